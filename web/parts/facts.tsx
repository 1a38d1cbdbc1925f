import type { ReactNode } from 'react'
import styles from './facts.module.css'

export type Fact = readonly [name: string, value: ReactNode]

/** A name with its value, for a `dl` that the page lays out itself. */
export const NamedFact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

/** true: React renders nothing for the value. */
const isNothing = (value: ReactNode) =>
  value == null || value === '' || value === false || (Array.isArray(value) && value.length === 0)

/** Names and values of an object. Facts without a value are left out. */
export const Facts = ({ facts }: { facts: readonly Fact[] }) => (
  <dl className={styles.facts}>
    {facts
      .filter(([, value]) => !isNothing(value))
      .map(([name, value]) => (
        <NamedFact key={name} name={name}>
          {value}
        </NamedFact>
      ))}
  </dl>
)
