import { beforeAll, expect, it } from 'vitest'
import { useTestServer } from './server-and-cli.ts'

const setup = useTestServer()
beforeAll(async () => {
  for (const name of ['train', 'evaluate', 'clean']) await setup.berth('submit', '--name', name, '--', 'true')
})

it('a command without a job shows a list of jobs on a terminal, and typing filters the list', async () => {
  const info = setup.cli.startOnTerminal(['info'])
  await info.find(/Which job\?[\s\S]*clean[\s\S]*evaluate[\s\S]*train/)
  info.child.stdin?.write('eval')
  await info.find(/1 match/)
  info.child.stdin?.write('\r')
  const { code, stdout } = await info.ended
  expect(code).toBe(0)
  expect(stdout).toMatch(/name[^\n]*evaluate/)
})

it('berth top cancels a job by keys, and restores the screen', async () => {
  const top = setup.cli.startOnTerminal(['top'])
  await top.find(/> .*QUEUED[\s\S]*q quit/)
  top.child.stdin?.write('/clean\rc')
  await top.find(/cancel clean \(job_\w+\)\? y\/N/)
  top.child.stdin?.write('y')
  await top.find(/cancelling clean/)
  top.child.stdin?.write('q')
  const { code, stdout } = await top.ended
  expect(code).toBe(0)
  expect(stdout).toContain('\u001b[?1049l')
  expect((await setup.cli.run(['ls', '--name', 'clean', '-o', 'jsonl', '--json', 'state'])).stdout).toContain(
    'CANCELLED',
  )
})

it('a command without a job exits with a usage error in a pipe, or if its prompt is cancelled', async () => {
  const info = setup.cli.startOnTerminal(['info'])
  await info.find(/Which job\?/)
  info.child.stdin?.write('\u0003')
  expect(await info.ended).toMatchObject({ code: 2, stdout: expect.stringContaining('pass its id') })
  const piped = await setup.cli.run(['info'])
  expect(piped).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining("missing required argument 'job'"),
  })
})
