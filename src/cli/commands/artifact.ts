import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { usage } from '../exit.ts'
import { asRun, objectOf, type PatientOptions, textOf, withPatience } from '../inside.ts'

interface Options extends PatientOptions {
  mediaType: string
  uri?: string
  file?: string
  metadata?: string
}

export function addArtifact(program: Command, cli: Cli): void {
  withPatience(program.command('artifact'))
    .description('inside a job: publish a result')
    .argument('<name>')
    .requiredOption('--media-type <type>', 'what it is, such as text/plain')
    .option('--uri <uri>', 'where it is')
    .option('--file <file>', 'its text, at most 64 KiB; - is stdin')
    .option('--metadata <json>', 'further details, a JSON object')
    .action(async (name: string, options: Options) => {
      const { mediaType, uri, file, metadata } = options
      if ((uri === undefined) === (file === undefined)) throw usage('give either --uri or --file')
      const content = file === undefined ? { uri: uri ?? null } : { body: await textOf(cli, file) }
      const facts = metadata === undefined ? {} : { metadata: objectOf(metadata, '--metadata') }
      const id = await asRun(cli, options, (inside) =>
        inside.publishArtifact({ name, mediaType, ...content, ...facts }),
      )
      await cli.terminal.write(`${id}\n`)
    })
}
