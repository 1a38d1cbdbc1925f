import type { JobSpecInput } from '../../generated/graphql.ts'

const resourceFields: Readonly<Record<string, string>> = {
  cpu: 'cpuCoresPerProcess',
  gpu: 'gpuCoresPerProcess',
  nodeCount: 'nodeCount',
  processCount: 'processCount',
  processesPerNode: 'processesPerNode',
  cpuCoresPerProcess: 'cpuCoresPerProcess',
  gpuCoresPerProcess: 'gpuCoresPerProcess',
  exclusiveNodeUse: 'exclusiveNodeUse',
}

const sameFields = [
  'name',
  'inheritEnvironment',
  'stdinPath',
  'stdoutPath',
  'stderrPath',
  'preLaunch',
  'postLaunch',
  'launcher',
]
const attributeFields: Readonly<Record<string, string>> = {
  queue: 'queueName',
  project: 'projectName',
  capacityReservationId: 'reservationId',
  customAttributes: 'customAttributes',
}
const translated = new Set([
  ...sameFields,
  ...Object.keys(attributeFields),
  'command',
  'executable',
  'arguments',
  'workdir',
  'environment',
  'resources',
  'executor',
  'maxRunTimeSeconds',
  'durationSeconds',
])

const library = '@berth-jobs/berth/psij'

/** Formats the submission as a PSI/J program. Comments name the fields that PSI/J does not support. */
export function formatPsij(spec: JobSpecInput, url: string): string {
  const { command, executable, resources, environment, workdir, executor } = spec
  const all = spec as Record<string, unknown>
  const [program, ...words] = command ?? [executable, ...(spec.arguments ?? [])]
  const known = Object.entries(resources ?? {}).flatMap(([name, value]) =>
    resourceFields[name] && !(name === 'cpu' && !Number.isInteger(value)) ? [[resourceFields[name], value]] : [],
  )
  const fields = {
    ...pick(all, Object.fromEntries(sameFields.map((name) => [name, name]))),
    executable: program,
    ...(words.length > 0 && { arguments: words }),
    ...(workdir && { directory: workdir }),
    ...(environment && { environment: Object.fromEntries(environment.map(({ name, value }) => [name, value])) }),
  }
  const seconds = spec.durationSeconds ?? spec.maxRunTimeSeconds ?? 0
  const attributes = [
    ...(seconds > 0 ? [`duration: new TimeInterval(${seconds})`] : []),
    ...Object.entries(pick(all, attributeFields)).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
  ]
  const lost = [
    ...Object.keys(all).filter((name) => !translated.has(name)),
    ...Object.keys(resources ?? {})
      .filter((name) => !known.some(([field]) => field === resourceFields[name]))
      .map((name) => `resources.${name}`),
  ]
  const lines = [
    ...Object.entries(fields).map(([name, value]) => `    ${name}: ${JSON.stringify(value)},`),
    `    resources: new ResourceSpecV1(${JSON.stringify(Object.fromEntries(known))}),`,
    `    attributes: new JobAttributes({ ${attributes.join(', ')} }),`,
  ]
  return `import { Job, JobAttributes, JobExecutor, JobSpec, ResourceSpecV1, TimeInterval } from '${library}'

${lost.length > 0 ? `// PSI/J has no field for: ${lost.join(', ')}\n` : ''}const jex = JobExecutor.getInstance(${JSON.stringify(executor?.toLowerCase())}, { url: ${JSON.stringify(url)}, token: process.env.BERTH_TOKEN })
const job = new Job(
  new JobSpec({
${lines.join('\n')}
  }),
)
await jex.submit(job)
console.log(job.nativeId, (await job.wait())?.state.name)
await jex.close()
`
}

const pick = (fields: Record<string, unknown>, names: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(names).flatMap(([name, here]) => (fields[name] == null ? [] : [[here, fields[name]]])),
  )
