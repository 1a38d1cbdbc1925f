import { type Command, Option } from 'commander'
import { findCommandPath } from './command-path.ts'

/** The option `--context NAME`, before or after the command name, chooses the server. */

export function addContextOption(command: Command): void {
  if (!command.options.some(({ long }) => long === '--context'))
    command.addOption(new Option('--context <context>', 'use this server; "berth context ls" lists them'))
  for (const each of command.commands) addContextOption(each)
}

/**
 * Reads the value of the option before the command line is parsed. Uses a separate program, because parsing stores option
 * values in it.
 */
export function readContextOption(createProgram: () => Command, words: readonly string[]): string | undefined {
  const path = findCommandPath(createProgram(), words)
  for (const [i, command] of path.entries()) command.parseOptions(words.slice(i))
  return path.map((each) => each.opts<{ context?: string }>().context).findLast((name) => name !== undefined)
}

/** Moves the option: `--context NAME verb` becomes `verb --context NAME`. */
export function moveContextOption(program: Command, words: readonly string[]): string[] {
  const length = words[0] === '--context' ? 2 : words[0]?.startsWith('--context=') ? 1 : 0
  const rest = words.slice(length)
  const at = findCommandPath(program, rest).length - 1
  return at === 0 ? [...words] : [...rest.slice(0, at), ...words.slice(0, length), ...rest.slice(at)]
}
