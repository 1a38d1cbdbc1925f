import type { RunSpec } from '../executor.ts'
import { removeNpmFolders } from './search-path.ts'

/**
 * Builds the environment of a job. Later sources override earlier ones: defaults, variables for its launcher, variables
 * inherited from the server, variables of the spec, and variables that Berth injects. `${NAME}` in a value is replaced
 * by the value so far; an unset variable is empty.
 */
export type Environment = Readonly<Record<string, string>>

/**
 * Defaults; inherited variables and the job may override them. PYTHONUNBUFFERED makes Python write output at once, even
 * into a pipe.
 */
export const defaultVariables: Environment = { PYTHONUNBUFFERED: '1' }

const inherited = /^(HOME|USER|LOGNAME|SHELL|PATH|LANG|LC_\w+|TZ|TMPDIR)$/
const secret = /^(BERTH_|PG[A-Z]|DATABASE_URL$)/

export interface Inheritance {
  environment: Readonly<Record<string, string | undefined>>
  names: readonly string[]
  /** Variables of the job's account, if it is not the server's. */
  account: Environment
  /** Variables that the launcher of the job needs; the job may override them. */
  launcher: Environment
}

export function buildEnvironment(run: RunSpec, from: Inheritance): Environment {
  const { spec, injected } = run
  const needed = { ...defaultVariables, ...from.launcher }
  const environment = new Map([...Object.entries(needed), ...(spec.inheritEnvironment ? inherit(from) : [])])
  for (const { name, value } of spec.environment)
    environment.set(
      name,
      expand(value, (other) => injected[other] ?? environment.get(other)),
    )
  for (const [name, value] of Object.entries(injected)) environment.set(name, value)
  return Object.fromEntries(environment)
}

function inherit({ environment, names, account }: Inheritance): [string, string][] {
  const may = (name: string) => inherited.test(name) || (names.includes(name) && !secret.test(name))
  const own = Object.entries(environment).flatMap(([name, value]): [string, string][] =>
    value !== undefined && may(name) ? [[name, name === 'PATH' ? removeNpmFolders(value) : value]] : [],
  )
  return [...own, ...Object.entries(account)]
}

function expand(text: string, lookUp: (name: string) => string | undefined): string {
  return text.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => lookUp(name) ?? '')
}

/** Returns the command of the spec. Variables are expanded in `arguments` only. */
export function buildArgv({ spec }: RunSpec, environment: Environment): string[] {
  const given = spec.arguments?.map((argument) => expand(argument, (name) => environment[name])) ?? []
  return [...(spec.command ?? []), ...(spec.executable === null ? [] : [spec.executable]), ...given]
}

/** The part of a command line that replaces the environment by the job's environment. */
export interface CarriedEnvironment {
  environment: Environment
  step: readonly string[]
}

/**
 * Carries the environment of a job to its command. Variables such as LD_PRELOAD, OPTIND or IFS would affect every
 * process before the command, and a shell loses variables with names that are invalid in a shell. So variables travel
 * as `_1=NAME=value`, and `env` restores them right before the command. It refers to them by name, so that lists of
 * processes do not show values. `late`: names of variables that are set in between, which take precedence.
 */
export function encodeEnvironment(environment: Environment, late: readonly string[]): CarriedEnvironment {
  const variables = Object.entries(environment).map(([name, value], at) => [`_${at + 1}`, `${name}=${value}`] as const)
  const references = variables.map(([name]) => `\${${name}}`).concat(late.map((name) => `${name}=\${${name}}`))
  return { environment: Object.fromEntries(variables), step: [env, '-S', ['-i', '--', ...references].join(' ')] }
}

const env = '/usr/bin/env'

/** `env` reads a program with "=" in its name as a variable. */
export const escapeAssignment = (argv: readonly string[]): readonly string[] =>
  argv[0]?.includes('=') ? ['/usr/bin/nice', '-n', '0', ...argv] : argv

export const expandHome = (path: string, home: string): string =>
  path === '~' ? home : path.replace(/^~\//, `${home}/`)
