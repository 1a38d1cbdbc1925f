import { setTimeout as pause } from 'node:timers/promises'
import { defineJob, type JobContext } from '@berth-jobs/berth/handler'

/**
 * Counts to `input.to`, one step a second. After an interruption, the next run continues where the last one stopped:
 *
 *   berth submit --set handler=$PWD/examples/count.handler.ts --set 'input={to: 60}' --set resumable=true --follow
 */
interface Input extends Record<string, unknown> {
  to: number
}

interface Closure extends Record<string, unknown> {
  next: number
}

export default defineJob<Input, Closure>({
  run: (_input, context) => count(context, 1),
  onResume: ({ next }, context) => count(context, next),
})

async function count(context: JobContext, from: number): Promise<void> {
  const to = Number(context.input['to'] ?? 10)
  for (let step = from; step <= to; step++) {
    await pause(1_000, undefined, { signal: context.signal })
    context.log(`step ${step} of ${to}`)
    context.progress(step / to, `step ${step}`)
    context.saveClosure({ next: step + 1 })
  }
  await context.artifact({ name: 'count', mediaType: 'text/plain', body: `${to}\n` })
}
