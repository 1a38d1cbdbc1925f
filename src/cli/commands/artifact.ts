import type { Command } from 'commander'
import {
  ArtifactDocument,
  type ArtifactRowFragment,
  ArtifactRowFragmentDoc,
  ArtifactsDocument,
} from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { exitCodes, Stop, unknownJob, usageError } from '../frame/exit.ts'
import {
  addRetryTimeoutOption,
  callAsRun,
  guessMediaType,
  parseObject,
  type RetryTimeoutOptions,
  readTextFile,
} from '../reading/inside.ts'
import { readEveryNode } from '../reading/pages.ts'
import { addOutputOption, type OutputOptions, rowPrinter } from '../showing/output.ts'

interface Options extends RetryTimeoutOptions {
  mediaType?: string
  uri?: string
  file?: string
  metadata?: string
}

export function registerArtifactCommand(program: Command, cli: Cli): void {
  const artifact = program.command('artifact').description('list and read results of jobs; inside a job publish them')
  registerReaders(artifact, cli)
  addRetryTimeoutOption(artifact.command('publish', { isDefault: true }))
    .description('publish a result of this job')
    .argument('<name>')
    .option('--media-type <type>', 'media type, such as text/plain (default: by the ending of the file, URI or name)')
    .option('--uri <uri>', 'location of the result')
    .option('--file <file>', 'file with the text of the result, at most 64 KiB; "-" is stdin')
    .option('--metadata <json>', 'further details, a JSON object')
    .action(async (name: string, options: Options) => {
      const { uri, file, metadata } = options
      const mediaType = options.mediaType ?? guessMediaType([file, uri, name])
      if ((uri === undefined) === (file === undefined)) throw usageError('exactly one of --uri and --file is needed')
      const body = file === undefined ? undefined : await readTextFile(cli, file)
      const facts = metadata === undefined ? undefined : parseObject(metadata, '--metadata')
      const artifact = { name, mediaType, uri, body, metadata: facts }
      const id = await callAsRun(cli, options, (inside) => inside.publishArtifact(artifact))
      await cli.terminal.write(`${id}\n`)
    })
}

const print = rowPrinter<ArtifactRowFragment>([
  { title: 'ID', cell: ({ id }) => id },
  { title: 'NAME', cell: ({ name }) => name, shrinks: true },
  { title: 'TYPE', cell: ({ mediaType }) => mediaType, drop: 1 },
  { title: 'BYTES', cell: ({ sizeBytes }) => (sizeBytes === null ? '-' : String(sizeBytes)), drop: 2 },
  { title: 'URI', cell: ({ uri }) => uri ?? '-', shrinks: true },
])

function registerReaders(artifact: Command, cli: Cli): void {
  addOutputOption(artifact.command('ls').argument('<job>'), [ArtifactRowFragmentDoc])
    .description('list the artifacts of a job')
    .action(async (id: string, { output }: OutputOptions) => {
      const read = async (page: { first: number; after: string | null }) => {
        const { job } = await cli.connection().request(ArtifactsDocument, { id, ...page })
        if (!job) throw unknownJob(id)
        return job.artifacts
      }
      await print(cli, await readEveryNode(read), output)
    })
  artifact
    .command('get')
    .argument('<artifact>')
    .description('print the text of an artifact')
    .action(async (id: string) => {
      const { node } = await cli.connection().request(ArtifactDocument, { id })
      if (node?.__typename !== 'Artifact')
        throw new Stop(
          exitCodes.notFound,
          `Artifact ${id} not found`,
          '"berth artifact ls JOB" lists the artifacts of a job',
        )
      if (node.body === null)
        throw new Stop(exitCodes.refused, `${node.name} is stored elsewhere`, `it is at ${node.uri}`)
      await cli.terminal.write(node.body)
    })
}
