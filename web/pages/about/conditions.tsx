import { CircleCheck, TriangleAlert } from 'lucide-react'
import type { AboutServerQuery } from '../../generated/graphql.ts'
import { formatServerText } from '../../parts/server-text.ts'
import { Time } from '../../parts/time.tsx'
import styles from './about.module.css'

type System = AboutServerQuery['system']
type Condition = System['conditions'][number]

/** A server evaluates the conditions every 10 s. After this time without an evaluation the page warns. */
const outdatedMs = 60_000

const urgencies: Readonly<Record<Condition['severity'], string>> = {
  PAGE: 'Users are affected now',
  TICKET: 'Act within days',
  INFO: 'Good to know',
}

/** The active conditions, with the steps that an operator should take. */
export function Conditions({ system: { at, conditions, conditionsAt } }: { system: System }) {
  const isOutdated = conditionsAt === null || Date.parse(at) - Date.parse(conditionsAt) > outdatedMs
  return (
    <>
      {isOutdated && (
        <p className={styles.trouble}>
          {conditionsAt === null
            ? 'No server has evaluated the conditions yet.'
            : 'No server evaluates the conditions.'}
        </p>
      )}
      {conditions.length === 0 && !isOutdated && (
        <ul className={styles.checks}>
          <li data-good>
            <CircleCheck size={16} aria-label="fine" />
            <strong>None</strong>
            <span>The servers find nothing that an operator should repair.</span>
          </li>
        </ul>
      )}
      <ul className={styles.conditions}>
        {conditions.map((condition) => (
          <ConditionItem key={condition.name} condition={condition} />
        ))}
      </ul>
    </>
  )
}

function ConditionItem({ condition }: { condition: Condition }) {
  const { name, severity, meaning, cause, remedy, nextCommands, since, evidence } = condition
  return (
    <li className={styles.condition} data-severity={severity}>
      <header>
        <h3>{name}</h3>
        <span className={styles.severity}>
          {severity === 'PAGE' && <TriangleAlert size={12} aria-hidden />} {urgencies[severity]}
        </span>
        <span>
          since <Time at={since} />
        </span>
      </header>
      <p>{meaning}</p>
      <dl>
        {evidence.length > 0 && <dt>Evidence</dt>}
        {evidence.length > 0 && (
          <dd>
            <ul>
              {evidence.map((text) => (
                <li key={text}>{formatServerText(text)}</li>
              ))}
            </ul>
          </dd>
        )}
        <dt>Cause</dt>
        <dd>{cause}</dd>
        <dt>What to do</dt>
        <dd>
          {remedy}
          {nextCommands.map((command) => (
            <code key={command}>{command}</code>
          ))}
        </dd>
      </dl>
    </li>
  )
}
