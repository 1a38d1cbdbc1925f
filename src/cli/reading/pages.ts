import { JobsDocument, type JobsQueryVariables } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'

interface Page<Node> {
  nodes: readonly Node[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

/** Maximum page size, by cost: 50 teams with 100 members each cost half of the limit of a request. */
const pageSizeMax = 50

type ReadPage<Node> = (variables: { first: number; after: string | null }) => Promise<Page<Node>>

export async function readFirstNodes<Node>(limit: number, read: ReadPage<Node>): Promise<Node[]> {
  const nodes: Node[] = []
  let after: string | null = null
  do {
    const page: Page<Node> = await read({ first: Math.min(pageSizeMax, limit - nodes.length), after })
    nodes.push(...page.nodes)
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
  } while (after !== null && nodes.length < limit)
  return nodes
}

export const readEveryNode = <Node>(read: ReadPage<Node>): Promise<Node[]> =>
  readFirstNodes(Number.POSITIVE_INFINITY, read)

export const readJobs = (cli: Cli, limit: number, asked: Omit<JobsQueryVariables, 'first' | 'after'>) =>
  readFirstNodes(limit, async (page) => (await cli.connection().request(JobsDocument, { ...page, ...asked })).jobs)
