import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { usageError } from '../exit.ts'
import { addPatienceOption, callAsRun, type PatientOptions, parseObject, readTextFile } from '../inside.ts'

interface Options extends PatientOptions {
  mediaType: string
  uri?: string
  file?: string
  metadata?: string
}

export function registerArtifactCommand(program: Command, cli: Cli): void {
  addPatienceOption(program.command('artifact'))
    .description('inside a job: publish a result')
    .argument('<name>')
    .requiredOption('--media-type <type>', 'what it is, such as text/plain')
    .option('--uri <uri>', 'where it is')
    .option('--file <file>', 'its text, at most 64 KiB; - is stdin')
    .option('--metadata <json>', 'further details, a JSON object')
    .action(async (name: string, options: Options) => {
      const { mediaType, uri, file, metadata } = options
      if ((uri === undefined) === (file === undefined)) throw usageError('give either --uri or --file')
      const content = file === undefined ? { uri: uri ?? null } : { body: await readTextFile(cli, file) }
      const facts = metadata === undefined ? {} : { metadata: parseObject(metadata, '--metadata') }
      const id = await callAsRun(cli, options, (inside) =>
        inside.publishArtifact({ name, mediaType, ...content, ...facts }),
      )
      await cli.terminal.write(`${id}\n`)
    })
}
