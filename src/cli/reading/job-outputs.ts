import { type ArtifactRowFragment, ArtifactsDocument } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { exitCodes, Stop, unknownJob } from '../frame/exit.ts'
import { readEveryNode } from './pages.ts'

/** Which files a job has. */

export async function readArtifacts(cli: Cli, id: string): Promise<readonly ArtifactRowFragment[]> {
  return readEveryNode(async (page: { first: number; after: string | null }) => {
    const { job } = await cli.connection().request(ArtifactsDocument, { id, ...page })
    if (!job) throw unknownJob(id)
    return job.artifacts
  })
}

/** The newest artifact with the name. */
export async function findFile(cli: Cli, id: string, path: string): Promise<ArtifactRowFragment> {
  const found = (await readArtifacts(cli, id)).findLast(({ name, kind }) => name === path && kind !== 'LINK')
  if (found) return found
  throw new Stop(exitCodes.notFound, `${path} is not a file of ${id}`, `"berth artifact ls ${id}" lists them`)
}
