import { useNavigate } from '@tanstack/react-router'
import { CornerDownLeft } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Autocomplete, Dialog, Input, ListBox, ListBoxItem, SearchField, useFilter } from 'react-aria-components'
import { ListJobsDocument } from '../generated/graphql.ts'
import { client } from '../ground/connection.ts'
import { closeLayer } from '../ground/layer-store.ts'
import { useResource } from '../ground/resource.ts'
import { changeSettings } from '../ground/settings.ts'
import { useMay } from '../ground/use-may.ts'
import { nameJob } from '../parts/server-text.ts'
import { StateGlyph } from '../parts/state-glyph.tsx'
import { LayerFrame } from './layer-frame.tsx'
import styles from './layers.module.css'

interface Choice {
  id: string
  text: string
  detail?: string
  icon?: ReactNode
  run: () => void
}

const jobsMax = 8

/** Finds jobs whose name or id begins with the typed text. */
async function findJobs(text: string, signal: AbortSignal) {
  const filter = /^job_\w+$/.test(text) ? { ids: [text] } : { text }
  const { jobs } = await client.request(ListJobsDocument, { first: jobsMax, filter }, { signal })
  return jobs.nodes
}

type Go = (to: string, search?: object) => () => void

function listCommands(go: Go, may: ReturnType<typeof useMay>): readonly Choice[] {
  return [
    { id: 'overview', text: 'Overview', detail: 'g o', run: go('/') },
    { id: 'jobs', text: 'Jobs', detail: 'g j', run: go('/jobs') },
    ...(may('JOB_SUBMIT') ? [{ id: 'new', text: 'New job', detail: 'n', run: go('/jobs/new') }] : []),
    { id: 'approvals', text: 'Approvals', detail: 'g a', run: go('/approvals') },
    { id: 'workload', text: 'Workload', detail: 'g w', run: go('/workload') },
    { id: 'cluster', text: 'Cluster', detail: 'g c', run: go('/cluster') },
    { id: 'usage', text: 'Usage', detail: 'g u', run: go('/usage') },
    ...(may('SECRET_OWN') ? [{ id: 'secrets', text: 'Secrets', run: go('/secrets') }] : []),
    ...(may('USER_WRITE') ? [{ id: 'users', text: 'Users', run: go('/people/users') }] : []),
    ...(may('LIMITS_WRITE') ? [{ id: 'limits', text: 'Limits', run: go('/policies/limits') }] : []),
    ...(may('RULE_WRITE') ? [{ id: 'rules', text: 'Approval rules', run: go('/policies/rules') }] : []),
    ...(may('AUDIT_READ') ? [{ id: 'audit', text: 'Audit log', run: go('/audit') }] : []),
    { id: 'settings', text: 'Settings', run: go('/settings') },
    { id: 'about', text: 'About this server', run: go('/about') },
    { id: 'mine', text: 'My running jobs', run: go('/jobs', { state: 'active', user: 'me' }) },
    {
      id: 'failed',
      text: 'Jobs that failed in the last 24 hours',
      run: go('/jobs', { state: 'failed', ended: '24h' }),
    },
    { id: 'light', text: 'Light theme', run: () => changeSettings({ theme: 'LIGHT' }) },
    { id: 'dark', text: 'Dark theme', run: () => changeSettings({ theme: 'DARK' }) },
    { id: 'system', text: 'Theme of the system', run: () => changeSettings({ theme: 'SYSTEM' }) },
    { id: 'compact', text: 'Compact rows', run: () => changeSettings({ density: 'COMPACT' }) },
    { id: 'normal', text: 'Normal rows', run: () => changeSettings({ density: 'NORMAL' }) },
  ]
}

/** The command palette: finds pages, commands and jobs by name. */
export function Palette() {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const { contains } = useFilter({ sensitivity: 'base' })
  const wanted = text.trim()
  const jobs = useResource(`palette ${wanted}`, (signal) => findJobs(wanted, signal), { isOff: wanted.length < 2 })
  const go: Go =
    (to, search = {}) =>
    () =>
      void navigate({ to, search } as never)
  const choices = listCommands(go, useMay())
  const found: readonly Choice[] = (jobs.value ?? []).map(({ id, name, state }) => ({
    id,
    text: nameJob({ id, name }),
    detail: id,
    icon: <StateGlyph state={state} />,
    run: () => void navigate({ to: '/jobs/$id', params: { id } }),
  }))
  const shown = [...choices.filter((choice) => contains(choice.text, wanted)), ...found]
  const run = (id: unknown) => {
    closeLayer()
    shown.find((choice) => choice.id === id)?.run()
  }
  return (
    <LayerFrame>
      <Dialog aria-label="Search or run a command" className={styles.palette ?? ''}>
        <Autocomplete inputValue={text} onInputChange={setText}>
          <SearchField aria-label="Search or run a command" autoFocus>
            <Input
              role="combobox"
              aria-expanded
              className={styles.search ?? ''}
              placeholder="A page, a command, or the name of a job"
            />
          </SearchField>
          <ListBox
            className={styles.choices ?? ''}
            aria-label="Choices"
            items={shown}
            onAction={run}
            renderEmptyState={() => <p className={styles.none}>Nothing matches “{wanted}”.</p>}
          >
            {({ text: label, detail, icon }) => (
              <ListBoxItem className={styles.choice ?? ''} textValue={label}>
                {icon ?? <CornerDownLeft size={14} />}
                {label}
                {detail && <small>{detail}</small>}
              </ListBoxItem>
            )}
          </ListBox>
        </Autocomplete>
      </Dialog>
    </LayerFrame>
  )
}
