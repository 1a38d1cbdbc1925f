import { describe, expect, it } from 'vitest'
import { createViewer } from '../../../src/domain/access.ts'
import { executorNames, findTraits } from '../../../src/domain/executors.ts'
import { resolveSubmission } from '../../../src/domain/submission/resolve.ts'
import { readSubmission } from '../../../src/domain/submission/submission.ts'
import { makeDestination } from '../../support/destination.ts'

/** The working directory of a job whose spec names none, when the caller sends its own. */

const viewer = createViewer({ id: 'user_1', name: 'ann', level: 'ADMIN', allow: [], deny: [] })

function workdir(executor: string, input: Record<string, unknown> = {}, spec: Record<string, unknown> = {}) {
  const runs = executor === 'handler' ? { handler: 'job.ts' } : { command: ['true'] }
  const raw = { spec: { ...runs, executor, ...spec }, defaultWorkdir: '/sets/ann', ...input }
  const facts = {
    destinations: [makeDestination(executor)],
    snapshots: new Map(),
    named: new Map(),
    memberships: new Map(),
    keys: new Map(),
    reservations: new Map(),
    roots: [],
    unixUsers: new Map(),
    secrets: new Set<string>(),
  }
  return resolveSubmission(readSubmission(viewer, raw, 0), facts, 0).job.spec.workdir
}

describe('the working directory of the caller', () => {
  it('is used only if the executor has the files of the caller', () => {
    expect(Object.fromEntries(executorNames.map((name) => [name, workdir(name)]))).toMatchObject({
      local: '/sets/ann',
      container: null,
      slurm: '/sets/ann',
      kubernetes: null,
      handler: '/sets/ann',
      simulated: null,
    })
    for (const name of executorNames) expect(workdir(name)).toBe(findTraits(name).sharesFiles ? '/sets/ann' : null)
  })

  it('is overridden by the workdir of the spec, on every executor', () => {
    for (const name of executorNames) expect(workdir(name, {}, { workdir: '/data' })).toBe('/data')
    expect(workdir('local', { defaultWorkdir: null })).toBeNull()
  })

  it('must be an absolute path, or is refused with the name of the field', () => {
    expect(() => workdir('container', { defaultWorkdir: 'here' })).toThrow(/defaultWorkdir/)
  })

  const keyed = (defaultWorkdir?: string, spec: Record<string, unknown> = {}) =>
    readSubmission(viewer, { spec: { command: ['true'], ...spec }, idempotencyKey: 'k', defaultWorkdir }, 0).key?.hash

  it.each([[{}], [{ executor: 'local' }], [{ executor: 'slurm' }], [{ preLaunch: '/data/setup.sh' }]])(
    'is part of the payload that an idempotency key compares, for a job with %o',
    (spec) => {
      expect(keyed('/a', spec)).toBe(keyed('/a', spec))
      expect(new Set([keyed('/a', spec), keyed('/b', spec), keyed(undefined, spec)]).size).toBe(3)
    },
  )

  it.each([
    [{ workdir: '/data' }],
    [{ image: 'alpine' }],
    [{ networkIsolation: 'ALL' }],
    [{ resources: { replicas: 2 } }],
    [{ executor: 'kubernetes' }],
    [{ executor: 'simulated' }],
  ])('is not part of the compared payload for a job with %o, which cannot start there', (spec) => {
    expect(new Set([keyed('/a', spec), keyed('/b', spec), keyed(undefined, spec)]).size).toBe(1)
  })
})
