import type { Violation } from '../errors.ts'
import { isAnchored, type SpecInput } from '../input.ts'

/** Checks how fields of a spec fit together, in every pool. The violations of all rules are reported together. */
type Rule = (spec: SpecInput) => Violation | undefined

const refuse = (path: string, message: string): Violation => ({ path: ['spec', ...path.split('.')], message })
const given = (value: unknown): boolean => value !== null && value !== undefined

const yearMs = 366 * 86_400_000

const commandRules: Rule[] = [
  ({ command, executable }) =>
    command && executable ? refuse('executable', 'Give command, or executable and arguments, not both') : undefined,
  ({ arguments: args, executable }) =>
    args && !executable
      ? refuse('arguments', 'Give arguments only with executable; a command includes its arguments')
      : undefined,
  ({ command, executable, image, handler }) =>
    command || executable || image || handler
      ? undefined
      : refuse('command', 'Must be given: the job needs command, executable, handler or image'),
  ({ command, executable, handler }) =>
    handler && (command || executable) ? refuse('handler', 'Give handler or command, not both') : undefined,
  ({ command }) => (command?.[0] === '' ? refuse('command.0', 'Must not be empty') : undefined),
  ({ arguments: args, environment, secrets }) => {
    const hidden = listSecretVariables(environment ?? [], secrets ?? [])
    const exposed = (args ?? []).map((each) => hidden.find((name) => expands(each, name)))
    const index = exposed.findIndex((name) => name !== undefined)
    return index < 0
      ? undefined
      : refuse(
          `arguments.${index}`,
          `Must not expand ${exposed[index]}: every account of the machine can read arguments; let the command read the variable`,
        )
  },
  ({ input, handler }) => (input && !handler ? refuse('input', 'Give input only with handler') : undefined),
]

const expands = (text: string, name: string) => text.includes(`\${${name}}`)

/** Names of variables that contain a secret: the secrets, and variables whose value refers to a secret. */
function listSecretVariables(environment: NonNullable<SpecInput['environment']>, secrets: readonly string[]): string[] {
  const hidden = ['BERTH_TOKEN', ...secrets]
  for (const { name, value } of environment) if (hidden.some((each) => expands(value, each))) hidden.push(name)
  return hidden
}

/** GPUs of one replica: the number of the spec, or the sum over the processes of the replica. */
function gpusOfCopy(r: SpecInput['resources']): number {
  const perNode = r?.processesPerNode ?? (given(r?.nodeCount) ? 1 : Number.POSITIVE_INFINITY)
  const processes = given(r?.nodeCount) ? perNode : Math.min(perNode, r?.processCount ?? 1)
  return r?.gpu ?? processes * (r?.gpuCoresPerProcess ?? 0)
}

const resourceRules: Rule[] = [
  ({ resources: r }) =>
    given(r?.memoryGib) && given(r?.memoryBytes)
      ? refuse('resources.memoryGib', 'Give memoryGib or memoryBytes, not both')
      : undefined,
  ({ resources: r }) =>
    given(r?.gpuMemoryGib) && given(r?.gpuMemoryBytes)
      ? refuse('resources.gpuMemoryGib', 'Give gpuMemoryGib or gpuMemoryBytes, not both')
      : undefined,
  ({ resources: r }) =>
    given(r?.nodeCount) && given(r?.processCount)
      ? refuse('resources.nodeCount', 'Give nodeCount or processCount, not both')
      : undefined,
  ({ resources: r }) =>
    given(r?.processesPerNode) && !given(r?.nodeCount) && !given(r?.processCount)
      ? refuse('resources.processesPerNode', 'Needs nodeCount or processCount')
      : undefined,
  ({ resources: r }) => {
    const nodes = given(r?.nodeCount)
      ? 'nodeCount'
      : given(r?.processCount) && given(r?.processesPerNode)
        ? 'processCount and processesPerNode'
        : null
    return nodes && (r?.replicas ?? 1) > 1
      ? refuse('resources.replicas', `Must be 1 with ${nodes}: each node runs one replica`)
      : undefined
  },
  ({ resources: r }) => {
    const perProcess = given(r?.cpuCoresPerProcess)
      ? 'cpuCoresPerProcess'
      : given(r?.gpuCoresPerProcess)
        ? 'gpuCoresPerProcess'
        : null
    const whole = (['cpu', 'gpu', 'replicas'] as const).find((field) => given(r?.[field]))
    return perProcess && whole ? refuse(`resources.${perProcess}`, `Cannot be given together with ${whole}`) : undefined
  },
  ({ resources: r }) => {
    if ((r?.gpu ?? 0) > 0 || (r?.gpuCoresPerProcess ?? 0) > 0) return undefined
    const field = (
      ['gpuMemoryGib', 'gpuMemoryBytes', 'gpuTensorCores', 'cudaVersion', 'gpuModel', 'gpuIds'] as const
    ).find((name) => given(r?.[name]))
    return field ? refuse(`resources.${field}`, 'Needs gpu to be at least 1') : undefined
  },
  ({ resources: r }) => {
    const named = new Set(r?.gpuIds).size
    const gpus = gpusOfCopy(r)
    return r?.gpuIds && !r.anyGpu && named < gpus
      ? refuse('resources.gpuIds', `Names ${named} devices for ${gpus} GPUs; name more, or set anyGpu`)
      : undefined
  },
  ({ resources: r, x11 }) =>
    x11?.gpu && (r?.gpu ?? 0) < 1 ? refuse('x11.gpu', 'Needs gpu to be at least 1') : undefined,
]

const folderRules: Rule[] = [
  ({ snapshot, workdir }) =>
    !given(snapshot) && given(workdir) && !isAnchored(workdir ?? '')
      ? refuse('workdir', `Must be an absolute path or start with ~/ (given: ${JSON.stringify(workdir)})`)
      : undefined,
  ({ snapshot, workdir }) =>
    given(snapshot) && given(workdir) && (isAnchored(workdir ?? '') || workdir?.split('/').includes('..'))
      ? refuse('workdir', `Must be a folder of the snapshot, such as src (given: ${JSON.stringify(workdir)})`)
      : undefined,
]

const timeRules: Rule[] = [
  ({ maxRunTimeSeconds, durationSeconds }) =>
    given(maxRunTimeSeconds) && given(durationSeconds) && maxRunTimeSeconds !== durationSeconds
      ? refuse('durationSeconds', `Differs from maxRunTimeSeconds (${maxRunTimeSeconds}); give one of them`)
      : undefined,
]

const listRules: Rule[] = [
  ({ labels }) => {
    const twice = findDuplicate((labels ?? []).map(({ key }) => key))
    return twice === undefined ? undefined : refuse('labels', `Key ${twice} is given twice`)
  },
  ({ secrets }) => {
    const twice = findDuplicate(secrets ?? [])
    return twice === undefined ? undefined : refuse('secrets', `${twice} is given twice`)
  },
  ({ secrets, environment }) => {
    const both = environment?.find(({ name }) => secrets?.includes(name))
    return both && refuse('secrets', `${both.name} is also in environment; give it in one of them`)
  },
  ({ internalDns }) =>
    internalDns && !given(internalDns.name) ? refuse('internalDns.name', 'Must be given') : undefined,
  ({ internalDns }) =>
    internalDns && !given(internalDns.ports) ? refuse('internalDns.ports', 'Needs at least one port') : undefined,
  ({ internalDns }) => {
    const twice = findDuplicate((internalDns?.ports ?? []).map(({ port }) => port))
    return twice === undefined ? undefined : refuse('internalDns.ports', `Port ${twice} is given twice`)
  },
  ({ dependsOn }) => {
    const twice = findDuplicate((dependsOn ?? []).map(({ jobId }) => jobId))
    return twice === undefined ? undefined : refuse('dependsOn', `Job ${twice} is named twice`)
  },
]

const rules: readonly Rule[] = [...commandRules, ...folderRules, ...resourceRules, ...timeRules, ...listRules]

export function findBrokenRules(spec: SpecInput, nowMs: number): Violation[] {
  const found = rules.flatMap((rule) => rule(spec) ?? [])
  if (spec.notBefore && new Date(spec.notBefore).getTime() > nowMs + yearMs)
    found.push(refuse('notBefore', 'Must be within a year from now'))
  return found
}

function findDuplicate<T>(values: readonly T[]): T | undefined {
  const seen = new Set<T>()
  return values.find((value) => seen.size === seen.add(value).size)
}
