import type { BerthServer } from '../../support/berth-server.ts'
import { adminToken, berth } from './stage.ts'

/** Pools, users and jobs for pictures, and for tests that visit every page. */

const gpus = [{ model: 'A100-SXM4-40GB', memoryGib: 40, count: 8 }]
const pools = [
  {
    name: 'gpu',
    executor: 'simulated',
    nodes: ['gpu1', 'gpu2', 'gpu3', 'gpu4'].map((name) => ({ name, cpu: 64, memoryGib: 512, gpus })),
    limits: { maxConcurrent: null, userMaxConcurrent: null },
    rates: { cpuHour: 0.02, gpuHour: 1.5, currency: 'EUR' },
  },
  { name: 'local', executor: 'local', jobsAsRoot: true, nodes: [{ name: 'desk', cpu: 8, memoryGib: 16 }] },
]
/** Settings of `berth.yaml`: simulated GPUs, and this machine. */
export const settings = {
  console: { title: 'GPU lab', accent: '#0A7D5A' },
  pools,
  queues: [
    { name: 'gpu', pool: 'gpu' },
    { name: 'local', pool: 'local' },
  ],
}

const training = `
for epoch in $(seq 1 400); do
  for step in 1 2 3 4 5 6; do echo "epoch $epoch step $step loss 0.$((4000 - epoch * 7 - step))"; done
  printf '\\033[32mepoch %d validated, accuracy 0.9%d\\033[0m\\n' $epoch $((epoch % 10))
  berth progress 0.$((40 + epoch % 50)) -m "epoch $epoch of 50"
  sleep 1
done`

type Reply = Record<string, Record<string, unknown>>

/** Runs a mutation as the owner of the token. */
export async function send(server: BerthServer, token: string, query: string, input: object): Promise<Reply> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  const body = JSON.stringify({ query: `mutation ($input: ${query}`, variables: { input } })
  const response = await fetch(`${server.url}/graphql`, { method: 'POST', headers, body })
  const { data, errors } = (await response.json()) as { data: Reply; errors?: unknown }
  if (errors) throw new Error(JSON.stringify(errors))
  return data
}

/** Creates a user with a token. */
export async function createPerson(server: BerthServer, name: string): Promise<string> {
  const user = 'CreateUserInput!) { createUser(input: $input) { ... on CreateUserSuccess { user { id } } } }'
  const { createUser } = await send(server, adminToken, user, { name, level: 'RESEARCHER' })
  const { id } = Object(createUser?.['user'])
  const token = 'CreateTokenInput!) { createToken(input: $input) { ... on CreateTokenSuccess { secret } } }'
  const { createToken } = await send(server, adminToken, token, { name: 'pictures', userId: id })
  return String(createToken?.['secret'])
}

/** Returns the ids of the jobs, in the order of their specs. */
export async function submitSpecs(server: BerthServer, token: string, specs: readonly object[]): Promise<string[]> {
  const query = `SubmitJobsInput!) { submitJobs(input: $input) { ... on SubmitJobsSuccess {
    results { ... on SubmitJobSuccess { job { id } } ... on Problem { message } } } } }`
  const submissions = specs.map((spec) => ({ spec }))
  const { submitJobs } = await send(server, token, query, { submissions })
  const results = (submitJobs?.['results'] ?? []) as { job?: { id: string }; message?: string }[]
  return results.map(({ job, message }) => job?.id ?? String(message))
}

export const simulate = (name: string, gpu: number, environment: Readonly<Record<string, string>>) => ({
  name,
  queue: 'gpu',
  command: ['python', 'train.py', '--gpus', String(gpu)],
  inheritEnvironment: false,
  resources: { cpu: 8, memoryGib: 64, gpu },
  maxRunTimeSeconds: 7_200,
  labels: [{ key: 'sweep', value: 'lr' }],
  environment: Object.entries(environment).map(([name, value]) => ({ name, value })),
})

/** Creates jobs of three users on the GPUs, and one that prints a log. Returns the id of the last one. */
export async function seedJobs(server: BerthServer): Promise<string> {
  const [ann = '', ben = '', cyd = ''] = await Promise.all(
    ['ann', 'ben', 'cyd'].map((name) => createPerson(server, name)),
  )
  const ended = [0, 0, 137, 0].map((code, i) =>
    simulate(`eval-${i + 11}`, 1, { SIM_RUN_SECONDS: '2', SIM_EXIT_CODE: String(code) }),
  )
  await submitSpecs(server, cyd, ended)
  const long = { SIM_RUN_SECONDS: '7200' }
  await submitSpecs(
    server,
    ann,
    [2, 4, 1, 8].map((gpu, i) => simulate(`lr-sweep-0${i}`, gpu, long)),
  )
  await submitSpecs(
    server,
    ben,
    [4, 8, 2].map((gpu, i) => simulate(`finetune-${i}`, gpu, long)),
  )
  await submitSpecs(
    server,
    cyd,
    [8, 8, 4].map((gpu, i) => simulate(`eval-big-${i}`, gpu, long)),
  )
  const train = { name: 'train-resnet', queue: 'local', command: ['sh', '-c', training], maxRunTimeSeconds: 7_200 }
  const [id = ''] = await submitSpecs(server, ann, [{ ...train, resources: { cpu: 2, memoryGib: 4 } }])
  return id
}

/** Creates a team, a quota, a reservation, an approval rule, and a job that waits for an approval. */
export async function seedPolicies(server: BerthServer): Promise<void> {
  const run = (...args: string[]) => berth(server, args, adminToken)
  await run('team', 'create', 'vision')
  await run('quota', 'create', '--type', 'CONCURRENT_JOBS', '--scope', 'GLOBAL', '--limit', '50', '--action', 'WARN')
  const [from = '', until = ''] = [1, 2].map((days) => new Date(Date.now() + days * 86_400_000).toISOString())
  await run(
    'reservation',
    'create',
    'course',
    '--pool',
    'gpu',
    '--project',
    'course',
    '--node',
    'gpu4',
    '--from',
    from,
    '--until',
    until,
  )
  await run('rules', 'create', 'big', '--level-not-in', 'ADMIN')
  const dora = await createPerson(server, 'dora')
  await submitSpecs(server, dora, [simulate('train-llm', 8, { SIM_RUN_SECONDS: '60' })])
}
