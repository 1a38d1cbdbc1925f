import { expect, it } from 'vitest'
import { useBerth } from './server-and-cli.ts'

/** Capacity reservations on the command line, against a server that leads its pool. */
const config = `
pools:
  - name: lab
    executors: [simulated]
    nodes: [{ name: n1, cpu: 4, memoryGib: 8 }, { name: n2, cpu: 4, memoryGib: 8 }]
`

const setup = useBerth({ config })
const { berth } = setup

it('berth reservation reserves nodes for jobs that name the reservation, lists and releases them', async () => {
  const window = ['--from', '2001-01-31T08:00:00Z', '--until', '2090-01-31T18:00:00Z']
  const made = await berth(
    'reservation',
    'create',
    'course',
    '--project',
    'genome',
    '--node',
    'n2',
    ...window,
    '-o',
    'json',
  )
  expect(made).toMatchObject({ code: 0, stderr: '' })
  const [{ id }] = JSON.parse(made.stdout)
  expect((await berth('reservation')).stdout).toMatch(new RegExp(`${id} +course +lab +genome +n2 .*jobs finish`))

  const inside = ['--project', 'genome', '--reservation', id]
  expect(await berth('submit', ...inside, '--wait', '--', 'x')).toMatchObject({ code: 0 })
  const runs = await setup.database().query('SELECT state, nodes FROM run')
  expect(runs).toEqual([{ state: 'SUCCEEDED', nodes: ['n2'] }])
  expect(await berth('submit', '--reservation', id, '--project', 'other', '--', 'x')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`Capacity reservation ${id} not found for project other in pool lab`),
  })
  expect(await berth('reservation', 'create', 'again', '--project', 'p', '--node', 'n2', ...window)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is in reservation course at that time; choose another node or window'),
  })
  expect(await berth('reservation', 'create', 'x', '--project', 'p', '--node', 'n1', '--from', 'soon')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('2030-01-31T12:00:00Z'),
  })

  expect(await berth('reservation', 'rm', id)).toMatchObject({ code: 0, stdout: `${id}\n` })
  expect((await berth('reservation', 'ls', '-o', 'json')).stdout).toBe('[]\n')
  expect(await berth('reservation', 'rm', id)).toMatchObject({ code: 5 })
})
