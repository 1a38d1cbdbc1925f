import { useId } from 'react'
import { formatCount, plural } from '../../parts/format.ts'
import { type Combination, findUnused, type Sweep } from './combinations.ts'
import type { DraftSpec } from './spec-text.ts'
import type { SweepResult } from './submission.ts'
import styles from './submit.module.css'

interface SweepFieldProps {
  text: string
  sweep: Sweep
  spec: DraftSpec
  results: readonly SweepResult[]
  onChange: (text: string) => void
}

const refusalsShownMax = 20
const example = '$'.concat('{lr}')

const describeCombination = (combination: Combination | undefined) =>
  Object.entries(combination ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')

/** A field for names with values. Each combination of values becomes a job. */
export function SweepField({ text, sweep, spec, results, onChange }: SweepFieldProps) {
  const id = useId()
  const { combinations, trouble } = sweep
  const unused = findUnused(spec, sweep)
  const refused = results.filter(({ message }) => message !== null)
  return (
    <div className={styles.sweep}>
      <label htmlFor={id}>Sweep</label>
      <textarea
        id={id}
        rows={Math.min(6, text.split('\n').length)}
        value={text}
        spellCheck={false}
        placeholder="lr = 0.1, 0.01 × seed = 1..4"
        aria-invalid={trouble !== null}
        aria-describedby={`${id}-help`}
        onChange={({ target }) => onChange(target.value)}
      />
      <small id={`${id}-help`} data-trouble={trouble !== null}>
        {trouble ??
          (combinations.length === 0
            ? `One job for each combination of values. ${example} in the command stands for a value.`
            : `${plural(combinations.length, 'job')}: ${describeCombination(combinations[0])} … ${describeCombination(combinations.at(-1))}.`)}
        {unused.length > 0 && ` No part of the spec uses ${unused.join(', ')}; the jobs get labels only.`}
      </small>
      {refused.length > 0 && (
        <ul className={styles.refusals} aria-label="Refused jobs">
          {refused.slice(0, refusalsShownMax).map(({ index, message }) => (
            <li key={index}>
              {describeCombination(combinations[index])}: {message}
            </li>
          ))}
          {refused.length > refusalsShownMax && <li>and {formatCount(refused.length - refusalsShownMax)} more</li>}
        </ul>
      )}
    </div>
  )
}
