import { expect, test } from 'vitest'
import { supportsField } from '../../src/domain/executors.ts'
import { specFields } from '../../src/domain/input.ts'

const missing = (executor: string) => specFields.filter((field) => !supportsField(executor, field))

test('executors support all fields of a spec except those that they refuse', () => {
  expect(missing('simulated')).toEqual([])
  expect(missing('kubernetes')).toEqual([
    'handler',
    'input',
    'outputs',
    'stdinPath',
    'stdoutPath',
    'stderrPath',
    'preLaunch',
    'postLaunch',
  ])
  expect(missing('slurm')).toContain('resources.replicas')
  expect(missing('local')).toContain('image')
})
