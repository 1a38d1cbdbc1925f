import { stringify } from 'yaml'
import type { JobSpecInput } from '../../generated/graphql.ts'
import { quoteShell } from '../../parts/format.ts'
import { formatPsij } from './psij-copy.ts'

export const formatYaml = (value: object): string => stringify(value, { lineWidth: 0 })

type Fields = Record<string, unknown>

const flag = (name: string, value: unknown) => `--${name} ${quoteShell(String(value))}`

/** Returns the flags of `berth submit` for a field; null: no flag can express the value. */
const flags: Readonly<Record<string, (value: never, spec: JobSpecInput) => readonly string[] | null>> = {
  name: (name: string) => [flag('name', name)],
  queue: (queue: string) => [flag('queue', queue)],
  executor: (executor: string) => [flag('executor', executor)],
  project: (project: string) => [flag('project', project)],
  account: (account: string) => [flag('account', account)],
  image: (image: string) => [flag('image', image)],
  workdir: (workdir: string) => [flag('workdir', workdir)],
  data: (data: string[]) => data.map((each) => flag('data', each)),
  environment: (variables: { name: string; value: string }[]) =>
    variables.map(({ name, value }) => flag('env', `${name}=${value}`)),
  secrets: (names: string[]) => names.map((name) => flag('secret', name)),
  labels: (labels: { key: string; value: string }[]) =>
    labels.map(({ key, value }) => (value === '' ? flag('tag', key) : flag('label', `${key}=${value}`))),
  maxRunTimeSeconds: (seconds: number) => (seconds > 0 ? [flag('max-run-time', `${seconds}s`)] : null),
  restartable: () => ['--restartable'],
  preemptable: (_: boolean, spec) => (spec.restartable ? [] : ['--preemptable']),
  interactive: () => ['--interactive'],
  inheritEnvironment: () => ['--no-inherit-env'],
  command: () => [],
  resources: (resources: Fields) =>
    Object.entries(resources).map(([name, value]) => {
      const known = { cpu: 'cpu', memoryGib: 'mem', gpu: 'gpu' }[name]
      return known ? flag(known, value) : `--set ${quoteShell(`resources.${name}=${JSON.stringify(value)}`)}`
    }),
}

export function formatCommandLine(spec: JobSpecInput): string {
  const options = Object.entries(spec).flatMap(([name, value]) => {
    const found = flags[name]?.(value as never, spec)
    return found ?? [`--set ${quoteShell(`${name}=${JSON.stringify(value)}`)}`]
  })
  const command = (spec.command ?? []).map(quoteShell)
  return ['berth submit', ...options, ...(command.length > 0 ? ['--', ...command] : [])].join(' ')
}

const mutation =
  'mutation ($input: SubmitJobInput!) { submitJob(input: $input) { ... on SubmitJobSuccess { job { id state } } ... on Problem { code message } } }'

export function formatCurl(spec: JobSpecInput, url: string): string {
  const body = JSON.stringify({ query: mutation, variables: { input: { spec } } })
  return `echo "authorization: Bearer $BERTH_TOKEN" | curl -s ${quoteShell(`${url}graphql`)} -H @- -H 'content-type: application/json' -d ${quoteShell(body)}\n`
}

export const formatTypeScript = (spec: JobSpecInput, url: string): string =>
  `import { createClient } from '@berth-jobs/berth/client'

const client = createClient({ url: ${JSON.stringify(url)}, token: process.env.BERTH_TOKEN })
const answer = await client.submit({
  spec: ${indent(JSON.stringify(spec, null, 2), 2)},
})
if (answer.__typename !== 'SubmitJobSuccess') throw new Error('message' in answer ? answer.message : answer.__typename)
console.log(answer.job.id)
await client.close()
`

export const formatPython = (spec: JobSpecInput, url: string): string =>
  `import json
import os
import urllib.request

query = """${mutation}"""
spec = ${toPython(spec)}
body = json.dumps({"query": query, "variables": {"input": {"spec": spec}}}).encode()
headers = {"content-type": "application/json"}
if "BERTH_TOKEN" in os.environ:
    headers["authorization"] = "Bearer " + os.environ["BERTH_TOKEN"]
with urllib.request.urlopen(urllib.request.Request(${JSON.stringify(`${url}graphql`)}, body, headers)) as answer:
    print(json.load(answer)["data"]["submitJob"])
`

const indent = (text: string, spaces: number) => text.replaceAll('\n', `\n${' '.repeat(spaces)}`)

/** Formats a JSON value as a Python literal. */
function toPython(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const inner = '    '.repeat(depth + 1)
  const lines = Array.isArray(value)
    ? value.map((each) => `${inner}${toPython(each, depth + 1)},\n`)
    : Object.entries(value).map(([name, each]) => `${inner}${JSON.stringify(name)}: ${toPython(each, depth + 1)},\n`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join('')}${'    '.repeat(depth)}${close}`
}

/** The formats in which users can copy a spec. */
export const specForms = {
  yaml: { title: 'YAML', format: formatYaml, file: 'yaml' },
  cli: { title: 'CLI', format: formatCommandLine, file: 'sh' },
  curl: { title: 'curl', format: formatCurl, file: 'sh' },
  ts: { title: 'TypeScript', format: formatTypeScript, file: 'ts' },
  python: { title: 'Python', format: formatPython, file: 'py' },
  psij: { title: 'PSI/J', format: formatPsij, file: 'ts' },
} as const
