import { sleepFor } from '../../client/connection/sleep.ts'
import { type ArtifactRowFragment, ArtifactsDocument, OutputsPendingDocument } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { exitCodes, Stop, unknownJob } from '../frame/exit.ts'
import { waitUntilFinal } from '../showing/watch.ts'
import { readEveryNode } from './pages.ts'

/** Which files a job has, and when. */

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

/** The same. Waits for the output files of the job if it lacks the file. */
export async function awaitFile(cli: Cli, id: string, path: string): Promise<ArtifactRowFragment> {
  return findFile(cli, id, path).catch(async (error) => {
    if (!(await waitForOutputs(cli, id))) throw error
    return findFile(cli, id, path)
  })
}

const pollMs = 500
/** The server gives files up that it cannot read within this time. */
const storingMsMax = 30 * 60_000

/** Waits until the files that a job leaves at its end are stored. false: they were. */
export async function waitForOutputs(cli: Cli, id: string): Promise<boolean> {
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const { job } = await cli.connection().request(OutputsPendingDocument, { id }, { signal: cli.ended })
    if (!job?.currentRun.outputsPending) return waitedMs > 0
    if (waitedMs === 0) cli.terminal.say(`waiting for the output files of ${id}, which are stored when it ends`)
    if (waitedMs >= storingMsMax) throw new Stop(exitCodes.refused, `the output files of ${id} are not stored yet`)
    if (job.stateCategory !== 'FINAL') await waitUntilFinal(cli, id)
    await sleepFor(pollMs, cli.ended)
  }
}
