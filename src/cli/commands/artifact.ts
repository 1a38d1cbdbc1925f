import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { usageError } from '../exit.ts'
import { addRetryTimeoutOption, callAsRun, parseObject, type RetryTimeoutOptions, readTextFile } from '../inside.ts'

interface Options extends RetryTimeoutOptions {
  mediaType: string
  uri?: string
  file?: string
  metadata?: string
}

export function registerArtifactCommand(program: Command, cli: Cli): void {
  addRetryTimeoutOption(program.command('artifact'))
    .description('publish a result of this job')
    .argument('<name>')
    .requiredOption('--media-type <type>', 'media type, such as text/plain')
    .option('--uri <uri>', 'location of the result')
    .option('--file <file>', 'file with the text of the result, at most 64 KiB; "-" is stdin')
    .option('--metadata <json>', 'further details, a JSON object')
    .action(async (name: string, options: Options) => {
      const { mediaType, uri, file, metadata } = options
      if ((uri === undefined) === (file === undefined)) throw usageError('exactly one of --uri and --file is needed')
      const body = file === undefined ? undefined : await readTextFile(cli, file)
      const facts = metadata === undefined ? undefined : parseObject(metadata, '--metadata')
      const artifact = { name, mediaType, uri, body, metadata: facts }
      const id = await callAsRun(cli, options, (inside) => inside.publishArtifact(artifact))
      await cli.terminal.write(`${id}\n`)
    })
}
