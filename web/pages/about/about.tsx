import { Link } from '@tanstack/react-router'
import { CircleCheck, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { AboutServerDocument, type AboutServerQuery } from '../../generated/graphql.ts'
import { useOutage } from '../../ground/connection.ts'
import { usePageTitle } from '../../ground/page-title.ts'
import { useQuery, useResource } from '../../ground/resource.ts'
import { useMay } from '../../ground/use-may.ts'
import { Facts } from '../../parts/facts.tsx'
import { formatClockSeconds, plural } from '../../parts/format.ts'
import { Failed, FailedInline, Loading } from '../../parts/page-states.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import styles from './about.module.css'
import { Conditions } from './conditions.tsx'
import { DataCheck } from './data-check.tsx'
import { Executors } from './executors.tsx'
import { type Check, checkServer } from './page-checks.ts'
import { Webhooks } from './webhooks.tsx'

const everyMs = 10_000
const checkMs = 30_000

export function AboutPage() {
  usePageTitle('About')
  const may = useMay()
  const { value, failure, read } = useQuery(AboutServerDocument, {}, { everyMs })
  if (!value) return failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
  return (
    <div className={styles.page}>
      {failure && <FailedInline failure={failure} onRetry={read} />}
      <Section title="Server">
        <ServerFacts server={value.serverInfo} system={value.system} />
      </Section>
      <Section title="Conditions">
        <Conditions system={value.system} />
      </Section>
      <Section title="Self-check">
        <Checks />
        {may('JOB_VIEW_ALL') && <DataCheck />}
      </Section>
      <Section title="Executors">
        <Executors executors={value.system.executors} />
      </Section>
      <Section title="Pools">
        <Pools pools={value.pools.nodes} />
      </Section>
      {may('WEBHOOK_WRITE') && (
        <Section title="Webhooks">
          <Webhooks />
        </Section>
      )}
    </div>
  )
}

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className={styles.section} aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
)

const formatDays = (days: number | null) => (days === null ? 'forever' : plural(days, 'day'))

interface ServerFactsProps {
  server: AboutServerQuery['serverInfo']
  system: AboutServerQuery['system']
}

function ServerFacts({ server, system }: ServerFactsProps) {
  return (
    <Facts
      facts={[
        ['Installation', server.title],
        ['Version', `${server.name} ${server.release}`],
        ['Address', server.publicUrl],
        ['Log-in', server.singleUser ? 'none: a single user' : (server.oidcIssuer ?? 'by tokens')],
        ['Its clock', <Time key="clock" at={server.at} />],
        ['Output is kept', `${formatDays(server.logRetentionDays)}, events ${formatDays(server.eventRetentionDays)}`],
        ['Load', system.loadAvg5Min === null ? null : `${system.loadAvg5Min.toFixed(2)} over 5 minutes`],
        ['Memory in use', system.memoryPercent === null ? null : `${Math.round(system.memoryPercent)} %`],
        [
          'Requests',
          `at most ${server.maxPageSize} items a page, cost ${server.maxQueryCost}, ${server.maxSubscriptionsPerConnection} streams a connection`,
        ],
        [
          'API',
          <a key="api" href="./graphql">
            GraphiQL
          </a>,
        ],
        [
          'Links',
          server.links.length > 0 &&
            server.links.map(({ title, url, on }) => (
              <div key={title + url}>
                {on === 'MENU' && /^https?:/.test(url) ? (
                  <a href={url} target="_blank" rel="noreferrer">
                    {title}
                  </a>
                ) : (
                  title
                )}{' '}
                {on === 'JOB' && 'on pages of jobs'}
                {on === 'NODE' && 'on nodes'}
              </div>
            )),
        ],
      ]}
    />
  )
}

function Checks() {
  const outage = useOutage()
  const { value, failure } = useResource('checks', checkServer, { everyMs: checkMs })
  const live: Check = {
    name: 'Live updates',
    isGood: outage === null,
    text:
      outage === null
        ? 'Streams arrive.'
        : `Away since ${formatClockSeconds(outage.sinceMs)}: ${outage.failure.message}`,
  }
  const checks: readonly Check[] = failure
    ? [{ name: 'Server', isGood: false, text: failure.message }, live]
    : [...(value ?? []), live]
  return (
    <ul className={styles.checks}>
      {checks.map(({ name, isGood, text }) => (
        <li key={name} data-good={isGood}>
          {isGood ? <CircleCheck size={16} aria-label="fine" /> : <TriangleAlert size={16} aria-label="trouble" />}
          <strong>{name}</strong>
          <span>{text}</span>
        </li>
      ))}
    </ul>
  )
}

const Pools = ({ pools }: { pools: AboutServerQuery['pools']['nodes'] }) => (
  <Table
    label="Pools"
    rows={pools}
    getKey={({ id }) => id}
    columns={[
      {
        title: 'Pool',
        cell: ({ name, paused }) => (
          <>
            <Link to="/cluster/$pool" params={{ pool: name }} className={styles.link}>
              {name}
            </Link>
            {paused && <span className={styles.trouble}> paused</span>}
          </>
        ),
      },
      {
        title: 'Order',
        isSecondary: true,
        cell: ({ policy }) => (policy === 'FAIR_SHARE' ? 'fair share' : 'priority'),
      },
      { title: 'Executors', cell: ({ executors }) => executors.join(', ').toLowerCase() },
      {
        title: 'Leader',
        cell: ({ leader }) =>
          leader ? (
            <>
              {leader.host ?? 'alive'}, <Time at={leader.renewedAt} />
            </>
          ) : (
            <span className={styles.trouble}>none: waiting jobs do not start</span>
          ),
      },
      { title: 'Process', isSecondary: true, cell: ({ leader }) => leader?.process },
      { title: 'Take-overs', isNumber: true, isSecondary: true, cell: ({ leader }) => leader?.epoch },
    ]}
  />
)
