import {
  Counter,
  type CounterConfiguration,
  collectDefaultMetrics,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  Registry,
} from '@prometheus-io/client'

/**
 * The metrics of this process. A room defines its metrics beside the code that updates them. No label may name a
 * person, team, account, job, run or node, so the number of series does not grow with use.
 */
const registry = new Registry()
// Each sample wakes up an idle process.
collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100, eventLoopUtilizationTimeout: 10_000 })

/** Seconds: from a response out of memory to a delay that users notice. */
export const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
/** Seconds: from an immediate start to a day in the queue. */
export const waitBuckets = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400]

const own = { registers: [registry] }

export const defineCounter = <Label extends string = never>(options: CounterConfiguration<Label>): Counter<Label> =>
  new Counter({ ...options, ...own })

export const defineHistogram = <Label extends string = never>(
  options: HistogramConfiguration<Label>,
): Histogram<Label> => new Histogram({ ...options, ...own })

export const defineGauge = <Label extends string = never>(options: GaugeConfiguration<Label>): Gauge<Label> =>
  new Gauge({ ...options, ...own })

export interface Exposition {
  type: string
  text: string
}

/** Prints all metrics in the format that `accept` requests: OpenMetrics, else the text format of Prometheus. */
export async function exposeMetrics(accept = ''): Promise<Exposition> {
  if (!accept.includes('application/openmetrics-text'))
    return { type: registry.contentType, text: await registry.metrics() }
  const open = new Registry(Registry.OPENMETRICS_CONTENT_TYPE)
  // Copies, because the OpenMetrics format renames the counters that it prints.
  for (const metric of await registry.getMetricsAsJSON()) {
    const copy = { ...metric, get: () => copy }
    open.registerMetric(copy as never)
  }
  return { type: open.contentType, text: await open.metrics() }
}

export interface MetricDescription {
  name: string
  help: string
  type: string
  labels: readonly string[]
}

/** Describes all metrics that are defined so far, sorted by name. */
export const describeMetrics = (): MetricDescription[] =>
  registry
    .getMetricsAsArray()
    .map((metric) => metric as unknown as { name: string; help: string; type: string; labelNames?: string[] })
    .map(({ name, help, type, labelNames = [] }) => ({ name, help, type, labels: labelNames }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
