import type { DryRunRowFragment } from '../client/generated/graphql.ts'
import type { Cli } from './cli.ts'
import { type Format, sheet, startText, structured } from './render.ts'

/** Prints what a submission would lead to. */
export async function tellDryRun({ terminal }: Cli, answer: DryRunRowFragment, output: Format): Promise<void> {
  const { wouldBe, nodes, gpuIds, queuePosition, estimatedStart, reasons, fit, idempotentJob } = answer
  const { dryRunWarnings: warnings } = answer
  for (const warning of warnings) terminal.say(`berth: ${warning}`)
  if (output !== 'table') {
    const shown = { wouldBe, nodes, gpuIds, queuePosition, estimatedStart, reasons, fit, idempotentJob, warnings }
    return terminal.write(structured(shown, output))
  }
  await terminal.write(
    sheet(terminal, [
      ['would be', wouldBe],
      ['on', nodes.join(', ')],
      ['gpus', gpuIds.join(', ')],
      ['because', reasons.map(({ message }) => message).join('; ')],
      ['missing', fit?.missing.join('; ')],
      ['position', queuePosition?.toString()],
      ['may start', startText(estimatedStart)],
      ['job of the key', idempotentJob?.id],
    ]),
  )
}
