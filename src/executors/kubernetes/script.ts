import { type RunSpec, StartFailed } from '../executor.ts'
import { defaultVariables, type Environment } from '../process/environment.ts'
import { quoteWord } from '../process/scripts.ts'

/**
 * Creates the script that becomes the command of a run. It is in the Secret, because more people may read pods than
 * Secrets. Its arguments are the number of the replica, the address of the first replica, and, in a session, the
 * command that runs instead of the run's command.
 *
 * Only the pod knows the variables of the image, so `${NAME}` is replaced by an earlier value of the job, or else by a
 * reference. The shell exports the variables, so that no list of processes shows a value. `env` sets the variables
 * whose names a shell would drop, and those that would change the behaviour of the shell, such as IFS.
 */

type Part = { text: string } | { variable: string; otherwise?: string }
type Word = readonly Part[]

/** First line of the script. Scripts of earlier servers lack it, and cannot run sessions (session.sh). */
const firstLine = '# takes commands'
const [replicaVariable, firstVariable] = ['berth_replica', 'berth_first']
/** Names that a shell can export without changing its behaviour. bash rejects UID and PPID. */
const exportable =
  /^(?!(?:PATH|IFS|ENV|CDPATH|E?UID|P?PID|_|(?:OLD)?PWD|LINENO|RANDOM|SECONDS|LANG|LANGUAGE|LC_[A-Z]+|SHELL|SHELLOPTS|OPT(?:ARG|IND|ERR)|PS\d)$|LD_|BASH)[A-Za-z_]\w*$/
/** Without inheritance, the script restarts itself with this variable alone. */
const cleanVariable = 'berth_clean'
const beginAgain = `[ "\${${cleanVariable}-}" ] || exec env -i ${cleanVariable}=yes /bin/sh "$0" "$@"`
/** Variables that the shell itself sets. */
const withoutOwn = [cleanVariable, 'PWD', 'OLDPWD', 'SHLVL', '_'].map((name) => `-u ${name}`).join(' ')
const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

/** `passed`: variables of the server that jobs get unless their image sets them. */
export function makeCommandScript(run: RunSpec, passed: Environment): string {
  const { spec } = run
  const variables = variablesOf(run, passed)
  const argv = argvOf(run, variables)
  if (argv.length === 0)
    throw new StartFailed('BAD_SPEC', 'command: required; the executor kubernetes cannot read the command of the image')
  const assigned = Map.groupBy(variables, ([name]) => (exportable.test(name) ? 'export' : 'env'))
  const assign = (by: 'export' | 'env') =>
    assigned.get(by)?.map(([name, value]) => `${quoted([{ text: `${name}=` }])}${quoted(value)}`) ?? []
  const home = variables.get('HOME') ?? (spec.inheritEnvironment ? [{ variable: 'HOME' }] : [])
  return [
    firstLine,
    ...(spec.inheritEnvironment ? [] : [beginAgain]),
    ...(spec.workdir === null ? [] : [enter(spec.workdir, quoted(home))]),
    `${replicaVariable}=$1 ${firstVariable}=$2`,
    'shift 2',
    `[ "$#" -gt 0 ] || set -- ${argv.map(quoted).join(' ')}`,
    // Replaces all references before setting the first variable.
    `export ${assign('export').join(' ')}`,
    `exec env ${[...(spec.inheritEnvironment ? [] : [withoutOwn]), ...assign('env')].join(' ')} "$@"`,
    '',
  ].join('\n')
}

/** Computes the variables. The last assignment of a name wins; `${NAME}` is the value so far. */
function variablesOf({ spec, injected }: RunSpec, passed: Environment): Map<string, Word> {
  const variables = new Map<string, Word>()
  for (const [name, value] of Object.entries(defaultVariables))
    variables.set(name, spec.inheritEnvironment ? [{ variable: name, otherwise: value }] : [{ text: value }])
  if (spec.inheritEnvironment)
    for (const [name, value] of Object.entries(passed)) variables.set(name, [{ variable: name, otherwise: value }])
  const fixed = new Map<string, Word>(Object.entries(injected).map(([name, text]) => [name, [{ text }]]))
  fixed.set('BERTH_REPLICA', [{ variable: replicaVariable }])
  fixed.set('MASTER_ADDR', [{ variable: firstVariable }])
  const lookUp = (name: string) =>
    fixed.get(name) ?? variables.get(name) ?? (spec.inheritEnvironment ? [{ variable: name }] : [])
  for (const { name, value } of spec.environment) variables.set(name, expand(value, lookUp))
  for (const [name, value] of fixed) variables.set(name, value)
  return variables
}

function argvOf({ spec }: RunSpec, variables: ReadonlyMap<string, Word>): Word[] {
  const lookUp = (name: string) => variables.get(name) ?? (spec.inheritEnvironment ? [{ variable: name }] : [])
  const command = [...(spec.command ?? []), ...(spec.executable === null ? [] : [spec.executable])]
  return [...command.map((text) => [{ text }]), ...(spec.arguments ?? []).map((text) => expand(text, lookUp))]
}

function expand(text: string, lookUp: (name: string) => Word): Word {
  const parts: Part[] = []
  let from = 0
  for (const match of text.matchAll(reference)) {
    parts.push({ text: text.slice(from, match.index) }, ...lookUp(match[1] ?? ''))
    from = match.index + match[0].length
  }
  return [...parts, { text: text.slice(from) }]
}

const quoted = (word: Word): string => word.map(quotedPart).join('') || "''"

function quotedPart(part: Part): string {
  if ('variable' in part) return `"\${${part.variable}-${(part.otherwise ?? '').replaceAll(/[$`"\\}]/g, '\\$&')}}"`
  return part.text === '' ? '' : quoteWord(part.text)
}

/** Enters the workdir. The container runtime would create a missing directory. */
function enter(workdir: string, home: string): string {
  const path =
    workdir === '~'
      ? home
      : workdir.startsWith('~/')
        ? `${home}${quoted([{ text: workdir.slice(1) }])}`
        : quoted([{ text: workdir }])
  return `cd -- ${path} || { [ "$#" -gt 2 ] || echo WORKDIR_NOT_FOUND >>/dev/termination-log; exit 126; }`
}
