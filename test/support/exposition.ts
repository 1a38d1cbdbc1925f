/** The metrics of a scrape, as values by name and labels: `berth_jobs{pool="sim",state="QUEUED"}`. */
export function parseExposition(text: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>()
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [, series = '', value = ''] = /^([a-zA-Z_:][\w:]*(?:\{[^}]*\})?) ([^ ]+)$/.exec(line) ?? []
    if (series === '') throw new Error(`Not a sample: ${line}`)
    values.set(series, value === 'NaN' ? Number.NaN : Number(value.replace('+Inf', 'Infinity')))
  }
  return values
}

/** The series of a metric, with their labels. */
export function listSeries(values: ReadonlyMap<string, number>, name: string): Record<string, number> {
  const found = [...values].filter(([series]) => series === name || series.startsWith(`${name}{`))
  return Object.fromEntries(found.map(([series, value]) => [series.slice(name.length), value]))
}
