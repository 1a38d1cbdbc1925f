import { expect, it } from 'vitest'
import { ConfigError, loadConfig } from '../../src/config.ts'

const load = (yaml: string) => loadConfig({ argv: ['--config', 'berth.yaml'], env: {}, readFile: () => yaml })
const withNodes = (nodes: string, pool = 'executor: container') =>
  `server: { publicUrl: 'https://berth.example.org' }\npools: [{ name: lab, ${pool}, nodes: [${nodes}] }]`
const node = (name: string, rest: string) => `{ name: ${name}, cpu: 4, memoryGib: 8, ${rest} }`

function refusal(yaml: string): string {
  try {
    load(yaml)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  throw new Error('the configuration was accepted')
}

it('a node has the address of its engine, its certificates and its data roots', () => {
  const tls = 'tls: { ca: /c, cert: /d, key: /e }'
  const ssh = node(
    'gpu1',
    "engine: 'ssh://berth@gpu1.lab:2222/run/podman/podman.sock', data: { roots: { sets: /srv } }",
  )
  const { pools } = load(withNodes(`${ssh}, ${node('gpu2', `engine: 'tcp://gpu2:2376', ${tls}`)}`))
  expect(pools[0].nodes?.map(({ engine }) => engine)).toMatchObject([
    {
      ssh: { user: 'berth', host: 'gpu1.lab', port: '2222', socket: '/run/podman/podman.sock' },
      isHere: false,
      dataRoots: { sets: '/srv' },
    },
    { ssh: null, isHere: false, tls: { ca: '/c' } },
  ])
})

it('an address without user, port and path leaves user and port to ssh, and uses the socket of Docker', () => {
  const { pools } = load(withNodes(node('gpu1', "engine: 'ssh://gpu1'")))
  const ssh = { user: null, host: 'gpu1', port: null, socket: '/var/run/docker.sock' }
  expect(pools[0].nodes?.[0]?.engine).toMatchObject({ ssh })
})

it('a node without an engine has no engine fields', () => {
  const { pools } = load('pools: [{ name: here, executor: container, nodes: [{ name: n1, cpu: 4, memoryGib: 8 }] }]')
  expect(pools[0].nodes).toEqual([
    { name: 'n1', cpuMillis: 4000, memoryBytes: 8 * 2 ** 30, cpuModel: null, infiniband: false, devices: [] },
  ])
})

it.each([
  [
    'a name that ssh takes for an option',
    node('a', "engine: 'ssh://-oProxyCommand=x'"),
    'engine: "ssh://-oProxyCommand=x" is not the address',
  ],
  ['a socket whose path ssh expands', node('a', "engine: 'ssh://a/%h'"), 'is not the address of a container engine'],
  [
    'another protocol',
    node('a', "engine: 'http://gpu1'"),
    'engine: "http://gpu1" is not the address of a container engine',
  ],
  [
    'a node without an engine beside others',
    `${node('a', "engine: 'ssh://a'")}, ${node('b', 'infiniband: false')}`,
    'nodes[1].engine: is missing: other nodes',
  ],
  [
    'one engine of two nodes',
    `${node('a', "engine: 'ssh://a'")}, ${node('b', "engine: 'ssh://a'")}`,
    'nodes[1].engine: ssh://a is the engine of another node',
  ],
  [
    'TCP without TLS',
    node('a', "engine: 'tcp://gpu1:2375'"),
    'tls: is missing: a program that reaches an engine without TLS is root',
  ],
  ['TLS for ssh', node('a', "engine: 'ssh://a', tls: { ca: c, cert: d, key: e }"), 'tls: is not used with ssh://a'],
  ['data roots without an engine', node('a', 'data: { roots: { d: /d } }'), 'data: is used only with engine'],
])('the configuration with %s is refused', (_, nodes, message) => expect(refusal(withNodes(nodes))).toContain(message))

it('an engine of a node is rejected if its pool has another executor than container', () => {
  const nodes = node('a', "engine: 'ssh://a'")
  expect(refusal(withNodes(nodes, 'executors: [local, container]'))).toContain(
    'engine: is not used by local, container',
  )
})

it('a configuration with jobs on other machines needs an address of the server, one with jobs on this machine does not', () => {
  const pool = (engine: string) =>
    `pools: [{ name: lab, executor: container, nodes: [${node('a', `engine: '${engine}'`)}] }]`
  expect(refusal(pool('ssh://a'))).toContain('server.publicUrl: is missing: jobs on other machines need an address')
  expect(load(pool('unix:///run/docker.sock')).pools).toHaveLength(1)
})
