import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSchema, isObjectType } from 'graphql'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { buildSpec } from '../../src/cli/reading/spec.ts'
import { JobAttributes, JobSpec, ResourceSpecV1 } from '../../src/client/psij/job-spec.ts'
import { toSpecInput } from '../../src/client/psij/spec-input.ts'
import { TimeInterval } from '../../src/client/psij/time-interval.ts'
import { translateEai } from '../../src/client/specs/eai.ts'
import { InvalidInput } from '../../src/domain/errors.ts'
import { executorNames, specialFields } from '../../src/domain/executors.ts'
import { parseSubmission } from '../../src/domain/input.ts'
import { normaliseSpec } from '../../src/domain/submission/normalise.ts'
import { routeSpec } from '../../src/domain/submission/routing.ts'
import { findBrokenRules } from '../../src/domain/submission/spec-rules.ts'
import { makeDestination } from '../support/destination.ts'
import { root } from '../support/sources.ts'

/** The tables of docs/specs.md, row by row. */
const page = readFileSync(join(root, 'docs/specs.md'), 'utf8')

/** Returns the rows of the table whose first column has the given title, without backquotes. */
function rowsOf(title: string): string[][] {
  const lines = page.split('\n')
  const begin = lines.findIndex((line) => line.startsWith(`| ${title} |`))
  const rows = lines.slice(begin).slice(
    2,
    lines.slice(begin).findIndex((line) => !line.startsWith('|')),
  )
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
}

const destination = (executor: string) => makeDestination(executor, { relaxReplicas: true, deviceIds: [0] })

describe('the table of spec fields and executors', () => {
  const samples: Record<string, object> = {
    image: { image: 'a' },
    pull: { pull: 'ALWAYS' },
    data: { data: ['/a:/b'] },
    networkIsolation: { networkIsolation: 'IN' },
    internalDns: { internalDns: { name: 'a', ports: [{ port: 80 }] } },
    'internalDns.ports.targetPort': { internalDns: { name: 'a', ports: [{ port: 80, targetPort: 81 }] } },
    'networkIsolation: OUT, with internalDns': {
      networkIsolation: 'OUT',
      internalDns: { name: 'a', ports: [{ port: 80 }] },
    },
    x11: { x11: { gpu: false } },
    'resources.replicas': { resources: { replicas: 2 } },
    'resources.gpuIds': { resources: { gpu: 1, gpuIds: [0] } },
    preLaunch: { preLaunch: 'a' },
    postLaunch: { postLaunch: 'a' },
    'launcher: multiple': { launcher: 'multiple' },
    'launcher: mpirun': { launcher: 'mpirun' },
    'launcher: srun': { launcher: 'srun' },
    stdinPath: { stdinPath: 'a' },
    stdoutPath: { stdoutPath: 'a' },
    stderrPath: { stderrPath: 'a' },
    snapshot: { snapshot: 'snapshot_1' },
    outputs: { outputs: ['*.csv'] },
    handler: { handler: 'a.ts' },
    input: { handler: 'a.ts', input: { a: 1 } },
    command: { command: ['true'] },
  }

  /** The refusal of the executor; null: it accepts the field. */
  function refusal(executor: string, sample: object): InvalidInput | null {
    const how = 'handler' in sample || executor === 'handler' ? { handler: 'a.ts' } : { command: ['true'] }
    const { spec } = parseSubmission({ spec: { ...('command' in sample ? {} : how), ...sample, executor } })
    expect(findBrokenRules(spec, 0)).toEqual([])
    try {
      routeSpec(spec, [destination(executor)])
      return null
    } catch (error) {
      if (error instanceof InvalidInput) return error
      throw error
    }
  }

  const rows = rowsOf('field')
  const [, header = ''] = page.match(/^\| field \| (.*) \|$/m) ?? []
  const names = header.split(' | ')

  it('contains every executor and every tested field', () => {
    expect([...executorNames].toSorted()).toEqual(names.toSorted())
    expect(rows.map(([field]) => field)).toEqual(Object.keys(samples))
    const named = rows.flatMap(([field = '']) => field.split(/\W+/))
    expect(specialFields.filter((field) => !named.includes(field))).toEqual([])
  })

  it.each(rows)(
    'matches the server: %s is accepted, or refused with the names of field and executor',
    (field = '', ...cells) => {
      const told = names.map((name) => refusal(name, samples[field] ?? {}))
      expect(told.map((refused) => (refused ? '' : '✓'))).toEqual(cells)
      const [last = ''] = (field.split(':')[0] ?? '').split('.').slice(-1)
      for (const [index, refused] of told.entries()) {
        if (!refused) continue
        const texts = refused.violations.map(({ path, message }) => `${path.join('.')} ${message}`)
        const isNamed = (text: string) => text.includes(field === 'command' ? 'handler' : last)
        expect(texts.filter(isNamed)).not.toEqual([])
        expect(texts.join()).toContain(`xecutor ${names[index]}`)
      }
    },
  )
})

describe('job files of the EAI Toolkit', () => {
  const build = (yaml: string) =>
    buildSpec({ yaml, flags: { inheritEnv: true }, command: [], env: {}, warn: () => undefined })

  it.each(rowsOf('their field'))('are converted from %s to %s', (theirs = '', here = '', remark = '') => {
    const { spec, warnings } = translateEai(parse(theirs))
    expect(spec).toEqual(parse(here))
    expect(warnings).toHaveLength(remark.startsWith('warning') ? 1 : 0)
    const input = parseSubmission({ spec: { command: ['true'], ...spec } })
    expect(findBrokenRules(input.spec, 0)).toEqual([])
    expect(build(stringify(build(theirs)))).toEqual(build(theirs))
  })

  it.each([
    ['{ mem: 1, resources: { memoryGib: 2 } }', 'mem and resources.memoryGib are the same field'],
    ['options: { alphabits: { speed: 9 } }', 'options.alphabits.speed is not a known option'],
    ['{ mem: 1, resources: 5 }', 'resources is not a YAML mapping'],
    ['options: fast', 'options is not a known option'],
    ['environmentVars: [A]', 'environmentVars: A is not NAME=value'],
    ['environmentVars: { A: b }', 'environmentVars must be a list of texts'],
  ])('with %s are refused', (file, told) => {
    expect(() => translateEai(parse(file))).toThrow(told)
  })

  it('keep fields that the conversion does not know', () => {
    const spec = {
      command: ['x'],
      resources: { gpuModel: ['a'], colour: 1 },
      internalDns: { name: '', ports: [] },
      a: 1,
    }
    expect(translateEai(structuredClone(spec))).toEqual({ spec, warnings: [] })
  })

  it('get the prefix of an internal name only once', () => {
    const name = (given: string) => {
      const { spec } = parseSubmission({
        spec: { command: ['true'], internalDns: { name: given, ports: [{ port: 80 }] } },
      })
      const route = { queue: 'q', pool: 'p', policy: 'PRIORITY', executor: 'container' } as const
      return normaliseSpec(spec, { route, account: 'users.ann', destination: undefined }).spec.internalDns?.name
    }
    expect([name('web'), name('dns-users-ann-web'), name('dns-users-bob-web')]).toEqual([
      'dns-users-ann-web',
      'dns-users-ann-web',
      'dns-users-ann-dns-users-bob-web',
    ])
  })
})

describe('the PSI/J client', () => {
  const input = (fields: object) =>
    toSpecInput(new JobSpec({ executable: 'x', ...fields }), undefined) as Record<string, unknown>

  it.each(rowsOf('JobSpec'))('converts JobSpec %s to %s', (theirs = '', here = '') => {
    expect(input(parse(theirs))).toMatchObject(parse(here))
  })

  it.each(rowsOf('ResourceSpecV1'))('converts ResourceSpecV1 %s to %s', (theirs = '', here = '') => {
    const spec = input({ resources: new ResourceSpecV1(parse(theirs)) })
    expect(spec['resources']).toEqual(parse(here))
    expect(() => parseSubmission({ spec })).not.toThrow()
  })

  it.each(rowsOf('JobAttributes'))('converts JobAttributes %s to %s', (theirs = '', here = '') => {
    expect(input({ attributes: new JobAttributes(parse(theirs)) })).toMatchObject({
      ...parse(here),
      durationSeconds: 600,
    })
  })

  it('converts duration to durationSeconds', () => {
    const attributes = new JobAttributes({ duration: new TimeInterval(90) })
    expect(input({ attributes })).toMatchObject({ durationSeconds: 90 })
  })

  it('has every field of the PSI/J classes in its documentation', () => {
    const first = (title: string) => rowsOf(title).flatMap(([theirs = '']) => Object.keys(parse(theirs)))
    expect(first('JobSpec').toSorted()).toEqual(
      Object.keys(new JobSpec())
        .filter((name) => name !== 'resources' && name !== 'attributes')
        .toSorted(),
    )
    const resources = Object.getOwnPropertyNames(ResourceSpecV1.prototype).filter((name) => name !== 'constructor')
    expect([...new Set(first('ResourceSpecV1'))].toSorted()).toEqual(resources.toSorted())
    expect([...first('JobAttributes'), 'duration'].toSorted()).toEqual(Object.keys(new JobAttributes()).toSorted())
  })

  it('has only fields of JobStatus in its documentation that exist in the schema', () => {
    const schema = buildSchema(readFileSync(join(root, 'schema.graphql'), 'utf8'))
    for (const [, here = ''] of rowsOf('JobStatus')) {
      const [type = '', field = ''] = here.split('.')
      const found = schema.getType(type)
      expect(isObjectType(found) && found.getFields()[field], here).toBeTruthy()
    }
  })
})
