import { expect, it } from 'vitest'
import type { Inside, ProgressReport } from '../../src/client/jobs/inside.ts'
import { createReports } from '../../src/handler/reports.ts'

function open() {
  const sent: ProgressReport[] = []
  const complaints: string[] = []
  const unblocked = Promise.withResolvers<void>()
  const reportProgress = async (report: ProgressReport) => {
    sent.push(report)
    await unblocked.promise
  }
  const unsent = { keep: () => undefined, clear: () => undefined }
  const inside = async () => ({ reportProgress }) as unknown as Inside
  const reports = createReports(inside, (text) => complaints.push(text), unsent)
  return { sent, complaints, unblock: unblocked.resolve, ...reports }
}

it('metrics added during a report are sent together afterwards, with only the newest value of each step', async () => {
  const { sent, unblock, settled, metrics, progress } = open()
  void metrics({ loss: 3 }, 1)
  void metrics({ loss: 2, acc: 0.5 }, 2)
  void progress(0.5)
  void metrics({ loss: 1 }, 2)
  unblock()
  await settled()
  expect(sent).toEqual([
    { metrics: [{ name: 'loss', value: 3, step: 1 }] },
    {
      fraction: 0.5,
      metrics: [
        { name: 'loss', value: 1, step: 2 },
        { name: 'acc', value: 0.5, step: 2 },
      ],
    },
  ])
})

it('if too many metrics are unsent, every second one of each name is dropped, except the newest', async () => {
  const { sent, unblock, settled, metrics } = open()
  void metrics({ begin: 1 })
  for (let step = 0; step <= 500; step++) void metrics({ a: step, b: step }, step)
  unblock()
  await settled()
  const ofB = sent[1]?.metrics?.filter(({ name }) => name === 'b')
  expect(ofB?.map(({ step }) => step)).toEqual(Array.from({ length: 251 }, (_, i) => 2 * i))
})

it('a metric that is not a finite number is left out, with a line in the log', async () => {
  const { sent, complaints, unblock, settled, metrics } = open()
  unblock()
  await metrics({ loss: Number.NaN })
  void metrics({ loss: Number.POSITIVE_INFINITY, acc: 1 })
  await settled()
  expect(sent).toEqual([{ metrics: [{ name: 'acc', value: 1 }] }])
  expect(complaints).toEqual([
    'metrics: loss is NaN, which cannot be stored',
    'metrics: loss is Infinity, which cannot be stored',
  ])
})
