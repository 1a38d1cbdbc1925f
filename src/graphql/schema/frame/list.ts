import type { ArgBuilder, InputFieldMap, InputShapeFromFields } from '@pothos/core'
import { readList, toConnection } from '../../rows/connection.ts'
import type { RequestContext } from '../../rows/context.ts'
import type { Bind, Listing } from '../../rows/keyset.ts'
import type { Loaders } from '../../rows/loaders.ts'
import { type PageArgs, pageCost } from '../../rows/page.ts'
import { builder } from './builder.ts'
import type { declareConnection } from './connection-type.ts'

interface List<Node, Args extends InputFieldMap> {
  description: string
  /** Arguments in addition to those of the page. */
  args?: (arg: ArgBuilder<typeof builder.$inferSchemaTypes>) => Args
  listing: Listing | ((args: InputShapeFromFields<Args>) => Listing)
  /** Returns the SQL condition for the rows that the viewer may see and asks for; default: all rows. */
  where?: (args: InputShapeFromFields<Args>, context: RequestContext, bind: Bind) => string
  /** Returns a value that cursors are bound to: a cursor with another value is refused. Default: the argument `filter`. */
  cursorScope?: (args: InputShapeFromFields<Args>) => unknown
  loader: (load: Loaders) => { loadMany(ids: string[]): Promise<readonly (Node | Error | null)[]> }
}

/** Declares a query that returns a list page by page. */
export const declareList = <Node, Args extends InputFieldMap>(
  name: string,
  type: ReturnType<typeof declareConnection<Node>>,
  { description, args, listing, where, cursorScope, loader }: List<Node, Args>,
): void =>
  builder.queryField(name, (t) =>
    t.field({
      type,
      description,
      args: { ...t.arg.connectionArgs(), ...args?.(t.arg) } as ReturnType<typeof t.arg.connectionArgs>,
      complexity: pageCost,
      async resolve(_root, plainArgs, context) {
        // The compiler cannot resolve the shape of generic arguments.
        const typedArgs = plainArgs as PageArgs & { filter?: unknown } & InputShapeFromFields<Args>
        const list = await readList(context.listSql, {
          listing: typeof listing === 'function' ? listing(typedArgs) : listing,
          where: (bind) => (where ? where(typedArgs, context, bind) : 'TRUE'),
          filter: cursorScope ? cursorScope(typedArgs) : typedArgs.filter,
          args: plainArgs,
        })
        return toConnection(list, (ids) => loader(context.load).loadMany(ids))
      },
    }),
  )
