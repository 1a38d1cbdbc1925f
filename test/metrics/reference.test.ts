import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formatMetricsReference } from '../../src/metrics/reference.ts'
import { describeMetrics } from '../../src/platform/metrics.ts'
import { makeDirectory } from '../support/directory.ts'

const own = describeMetrics().filter(({ name }) => name.startsWith('berth_'))

describe('the metrics', () => {
  it('are listed in docs/metrics.md, as npm run codegen writes it', () => {
    expect(readFileSync('docs/metrics.md', 'utf8')).toBe(formatMetricsReference())
  })

  it('have no label with an unlimited number of values', () => {
    const labels = new Set(own.flatMap((metric) => metric.labels))
    expect([...labels].sort()).toEqual([
      'condition',
      'executor',
      'field',
      'kind',
      'outcome',
      'pool',
      'reason',
      'state',
      'transport',
      'verb',
      'version',
      'webhook',
    ])
  })

  it('have names with a unit, and counters end in _total', () => {
    for (const { name, type } of own) {
      expect(name.endsWith('_total'), name).toBe(type === 'counter')
      if (type === 'histogram') expect(name).toMatch(/_seconds$/)
    }
  })
})

interface Panel {
  title: string
  targets?: { expr: string }[]
}

describe('ops/grafana.json', () => {
  const { panels } = JSON.parse(readFileSync('ops/grafana.json', 'utf8')) as { panels: Panel[] }
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

  it('uses metrics that exist', () => {
    const names = new Set(own.flatMap(({ name, type }) => (type === 'histogram' ? [`${name}_bucket`] : [name])))
    const used = expressions.flatMap((expr) => expr.match(/\bberth_\w+/g) ?? [])
    expect(used.filter((name) => !names.has(name))).toEqual([])
    expect(used.length).toBeGreaterThan(25)
  })

  const hasPromtool = spawnSync('promtool', ['--version']).status === 0
  if (!hasPromtool) console.error('SKIPPED: promtool is missing; install prometheus to check the dashboard with it.')
  it.skipIf(!hasPromtool)('has expressions that Prometheus parses', () => {
    const directory = makeDirectory()
    const rules = expressions.map((expr, index) => ({
      record: `panel:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }))
    const file = join(directory, 'rules.yaml')
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
    expect(execFileSync('promtool', ['check', 'rules', file], { encoding: 'utf8' })).toContain('SUCCESS')
  })
})
