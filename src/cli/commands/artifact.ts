import { basename, dirname, relative, resolve } from 'node:path'
import type { Command } from 'commander'
import { uploadFile } from '../../client/files/index.ts'
import { ArtifactDocument, type ArtifactRowFragment, ArtifactRowFragmentDoc } from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { exitCodes, Stop, usageError } from '../frame/exit.ts'
import {
  addRetryTimeoutOption,
  callAsRun,
  findMediaType,
  guessMediaType,
  parseObject,
  type RetryTimeoutOptions,
  readTextFile,
} from '../reading/inside.ts'
import { getFile, getFiles, printFile } from '../reading/job-files.ts'
import { awaitFile, readArtifacts, waitForOutputs } from '../reading/job-outputs.ts'
import { addOutputOption, createRowPrinter, type OutputOptions } from '../showing/output.ts'

interface Options extends RetryTimeoutOptions {
  mediaType?: string
  uri?: string
  file?: string
  metadata?: string
}

export function registerArtifactCommand(program: Command, cli: Cli): void {
  const artifact = program.command('artifact').description('list and read results of jobs; inside a job publish them')
  registerReaders(artifact, cli)
  registerPut(artifact, cli)
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

function registerPut(artifact: Command, cli: Cli): void {
  addRetryTimeoutOption(artifact.command('put'))
    .description('keep a file of this job as an artifact')
    .argument('<file>')
    .option('--name <path>', 'path of the artifact (default: that of the file)')
    .option('--media-type <type>', 'media type, such as text/csv (default: by the ending of the name)')
    .action(async (file: string, options: PutOptions) => {
      const path = resolve(cli.cwd, file)
      const given = relative(cli.cwd, path)
      const name = options.name ?? (given.startsWith('..') ? basename(path) : given)
      const id = await callAsRun(cli, options, async (inside) => {
        const snapshotId = await uploadFile(cli.connection(), dirname(path), basename(path), { signal: cli.ended })
        const mediaType = options.mediaType ?? findMediaType([name]) ?? 'application/octet-stream'
        return inside.publishArtifact({ name, mediaType, snapshotId })
      })
      await cli.terminal.write(`${id}\n`)
    })
}

interface PutOptions extends RetryTimeoutOptions {
  name?: string
  mediaType?: string
}

const print = createRowPrinter<ArtifactRowFragment>([
  { title: 'ID', cell: ({ id }) => id },
  { title: 'NAME', cell: ({ name }) => name, shrinks: true },
  { title: 'TYPE', cell: ({ mediaType }) => mediaType, drop: 1 },
  { title: 'BYTES', cell: ({ sizeBytes }) => (sizeBytes === null ? '-' : String(sizeBytes)), drop: 2 },
  { title: 'URI', cell: ({ uri }) => uri ?? '-', shrinks: true },
])

interface GetOptions {
  into?: string
  force?: boolean
}

function registerReaders(artifact: Command, cli: Cli): void {
  addOutputOption(artifact.command('ls').argument('<job>'), [ArtifactRowFragmentDoc])
    .description('list the artifacts of a job')
    .action(async (id: string, { output }: OutputOptions) => {
      await print(cli, await readArtifacts(cli, id), output)
    })
  artifact
    .command('get')
    .argument('<job>', 'a job, or an artifact whose content is printed')
    .argument('[path]', 'one file; default: all')
    .description('copy the files of a job into a folder; waits for its output files')
    .option('-o, --into <dir>', 'the folder; default: the current directory')
    .option('--force', 'overwrite existing files')
    .action(async (id: string, path: string | undefined, { into = '.', force = false }: GetOptions) => {
      if (id.startsWith('artifact_')) return printArtifact(cli, id)
      const place = { folder: resolve(cli.cwd, into), overwrites: force }
      if (path !== undefined) return getFile(cli, await awaitFile(cli, id, path), place)
      await waitForOutputs(cli, id)
      await getFiles(cli, id, place)
    })
  artifact
    .command('cat')
    .argument('<job>')
    .argument('<path>')
    .description('print a file of a job')
    .action(async (id: string, path: string) => printFile(cli, await awaitFile(cli, id, path)))
}

async function printArtifact(cli: Cli, id: string): Promise<void> {
  const { node } = await cli.connection().request(ArtifactDocument, { id })
  if (node?.__typename !== 'Artifact')
    throw new Stop(
      exitCodes.notFound,
      `Artifact ${id} not found`,
      '"berth artifact ls JOB" lists the artifacts of a job',
    )
  if (node.uri !== null) throw new Stop(exitCodes.refused, `${node.name} is stored elsewhere`, `it is at ${node.uri}`)
  await printFile(cli, node)
}
