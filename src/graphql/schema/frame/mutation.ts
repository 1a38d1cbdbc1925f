import type { FieldMap, InputFieldMap, InputShapeFromFields } from '@pothos/core'
import type { Viewer } from '../../../domain/access.ts'
import type { Domain } from '../../../domain/domain.ts'
import { NotFound, VersionConflict } from '../../../domain/errors.ts'
import type { Target } from '../../../domain/versions.ts'
import type { RequestContext } from '../../rows/context.ts'
import { builder } from './builder.ts'
import { expectedVersion } from './fields.ts'
import { declareResult, deletedFields, type Problem, type SuccessFields } from './mutation-result.ts'

export type InputFields = PothosSchemaTypes.InputFieldBuilder<typeof builder.$inferSchemaTypes, 'InputObject'>

interface Mutation<Fields extends InputFieldMap, Outcome extends object> {
  description: string
  input: { argumentDescription: string; description: string; fields: (t: InputFields) => Fields }
  success: { description: string; fields: (t: SuccessFields<Outcome>) => FieldMap }
  problems?: readonly Problem[]
  /** false: the mutation never returns InvalidInput. */
  refusesInput?: boolean
  resolve: (input: InputShapeFromFields<Fields>, context: RequestContext) => Promise<Outcome>
}

/** Declares a mutation `createQuota` with the types CreateQuotaInput, CreateQuotaSuccess and CreateQuotaResult, which it returns. */
export function declareMutation<Fields extends InputFieldMap, Outcome extends object = { id: string }>(
  name: string,
  { description, input, success, problems = [], refusesInput = true, resolve }: Mutation<Fields, Outcome>,
) {
  const title = name.charAt(0).toUpperCase() + name.slice(1)
  const { argumentDescription, ...inputType } = input
  const args = {
    type: builder.inputType(`${title}Input`, inputType),
    required: true,
    description: argumentDescription,
  } as const
  const type = declareResult(title, builder.objectRef<Outcome>(`${title}Success`).implement(success), problems, {
    refusesInput,
  })
  builder.mutationField(name, (t) =>
    t.field({
      type,
      description,
      args: { input: t.arg(args) },
      // The compiler cannot resolve the shapes of generic arguments and results.
      resolve: (_root, args, context) => resolve((args as never as { input: never }).input, context) as never,
    }),
  )
  return type
}

interface Deletion {
  /** Name of the object in descriptions: "quota". */
  noun: string
  description: string
  idField: string
  inputDescription?: string
  remove: (domain: Domain, viewer: Viewer, target: Target) => Promise<{ id: string }>
}

/** Declares a mutation that deletes an object with a version. */
export const declareDeleteMutation = (
  name: string,
  { noun, description, idField, inputDescription, remove }: Deletion,
) =>
  declareMutation(name, {
    description,
    input: {
      argumentDescription: `The ${noun}.`,
      description: inputDescription ?? `The ${noun} to delete.`,
      fields: (t) => ({
        [idField]: t.id({ required: true, description: `The ${noun} to delete.` }),
        expectedVersion: t.field(expectedVersion(noun)),
      }),
    },
    success: { description: `The ${noun} was deleted.`, fields: deletedFields },
    problems: [NotFound, VersionConflict],
    refusesInput: false,
    resolve: ({ [idField]: id, expectedVersion }, { domain, viewer }) =>
      remove(domain, viewer, { id: String(id), expectedVersion: expectedVersion as number }),
  })
