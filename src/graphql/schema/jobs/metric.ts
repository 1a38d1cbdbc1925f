import { InvalidInput } from '../../../domain/errors.ts'
import { type MetricPoint, namesMax, pointsMax, type RunMetric } from '../../../domain/inside/metrics.ts'
import { builder } from '../frame/builder.ts'
import { exposeColumns } from '../frame/fields.ts'
import { RunRef } from '../frame/refs.ts'

const MetricPointRef = builder.objectRef<MetricPoint>('MetricPoint').implement({
  description: 'One value of a metric.',
  fields: (t) =>
    exposeColumns(t, {
      step: ['UInt53', 'Step of the job.'],
      value: ['Float', 'The number.'],
      at: ['DateTime', 'When it was stored.'],
    }),
})

const pointsDefault = 240
const pointsMin = 2
const number = (value: number) => value.toLocaleString('en-US')

const Metric = builder.objectRef<RunMetric>('Metric').implement({
  description: 'A number that a run reports over its steps, such as the loss of a training.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, as the job gave it.' }),
    last: t.field({ type: MetricPointRef, description: 'The value of the highest step.', resolve: (metric) => metric }),
    points: t.field({
      type: [MetricPointRef],
      nullable: true,
      description: `Values in the order of their steps. The server keeps at most ${number(pointsMax)}: a longer series is thinned evenly, and keeps its first and last value.`,
      args: {
        points: t.arg.int({
          defaultValue: pointsDefault,
          description: 'Values at most, 2 … 1,000: the first, the last, and every nth between.',
        }),
      },
      complexity: ({ points }) => ({ field: 20, multiplier: Math.max(1, (points ?? pointsDefault) / 10) }),
      resolve({ runId, name }, { points }, { load }) {
        const wanted = points ?? pointsDefault
        if (wanted < pointsMin || wanted > pointsMax)
          throw InvalidInput.at('points', `Must be ${pointsMin} … ${number(pointsMax)}, not ${wanted}`)
        return load.pointsOfMetric(wanted).load(`${runId} ${name}`)
      },
    }),
  }),
})

builder.objectFields(RunRef, (t) => ({
  metrics: t.field({
    type: [Metric],
    nullable: true,
    description: 'Numbers that the run reported, by name. They are deleted with the job.',
    complexity: { field: 2, multiplier: namesMax },
    resolve: ({ id }, _args, { load }) => load.metricsOfRun.load(id),
  }),
}))
