import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useKeyGroups } from '../../ground/keys.ts'
import { usePageTitle } from '../../ground/page-title.ts'
import { useStart } from '../../ground/server-facts.ts'
import { changeSettings, type Settings, useSettings } from '../../ground/settings.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { KeyTable } from '../../parts/key-table.tsx'
import styles from './settings.module.css'

export function SettingsPage() {
  usePageTitle('Settings')
  const settings = useSettings()
  return (
    <div className={styles.page}>
      <p className={styles.help}>This browser keeps these settings.</p>
      <Section title="Appearance">
        <Radios
          label="Theme"
          name="theme"
          value={settings.theme}
          options={[
            ['SYSTEM', 'As the system'],
            ['LIGHT', 'Light'],
            ['DARK', 'Dark'],
          ]}
        />
        <Radios
          label="Rows"
          name="density"
          value={settings.density}
          options={[
            ['COMPACT', 'Compact'],
            ['NORMAL', 'Normal'],
            ['TOUCH', 'Touch'],
          ]}
        />
      </Section>
      <Section title="Times">
        <Toggle
          name="absoluteTimes"
          text="By the clock, not relative"
          help="The key t switches. The exact time shows on hover."
        />
        <Toggle name="logWraps" text="Wrap the lines of logs" help="The key w of a log switches." />
      </Section>
      <Section title="Notices">
        <Notices />
      </Section>
      <Account />
      <Section title="Keys">
        <Toggle
          name="singleKeys"
          text="Single keys work outside of fields"
          help="Off: only keys with Ctrl or ⌘ work."
        />
        <Keys />
      </Section>
    </div>
  )
}

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className={styles.section} aria-label={title}>
    <h2>{title}</h2>
    <div className={styles.content}>{children}</div>
  </section>
)

interface RadiosProps<Name extends 'theme' | 'density'> {
  label: string
  name: Name
  value: Settings[Name]
  options: readonly (readonly [value: Settings[Name], text: string])[]
}

const Radios = <Name extends 'theme' | 'density'>({ label, name, value, options }: RadiosProps<Name>) => (
  <fieldset className={styles.radios}>
    <legend>{label}</legend>
    {options.map(([each, text]) => (
      <label key={each}>
        <input type="radio" name={name} checked={value === each} onChange={() => changeSettings({ [name]: each })} />
        {text}
      </label>
    ))}
  </fieldset>
)

type ToggleName = 'absoluteTimes' | 'logWraps' | 'singleKeys'

function Toggle({ name, text, help }: { name: ToggleName; text: string; help?: string }) {
  const settings = useSettings()
  return (
    <div>
      <label className={styles.toggle}>
        <input
          type="checkbox"
          checked={settings[name]}
          onChange={({ target }) => changeSettings({ [name]: target.checked })}
        />
        {text}
      </label>
      {help && <p className={styles.help}>{help}</p>}
    </div>
  )
}

type NoticeState = NotificationPermission | 'missing'

const noticeTexts: Readonly<Record<NoticeState, string>> = {
  default: 'The browser asks you first.',
  granted: 'This browser may show notices.',
  denied: 'This browser refuses notices of this page. Its settings for this site change that.',
  missing: 'This browser has no notices.',
}

/** The permission for browser notifications, which the page of a job shows when the job ends. */
function Notices() {
  const [state, setState] = useState<NoticeState>(
    typeof Notification === 'undefined' ? 'missing' : Notification.permission,
  )
  return (
    <>
      <p>Press b on the page of a job to get a notice when the job ends. Keep that page open.</p>
      <p className={styles.help}>{noticeTexts[state]}</p>
      {state === 'default' && (
        <div>
          <Button onClick={() => void Notification.requestPermission().then(setState)}>Allow notices</Button>
        </div>
      )}
    </>
  )
}

function Account() {
  const { server, viewer } = useStart()
  const may = useMay()
  const { name, displayName, level } = viewer.user
  return (
    <Section title="Account">
      <p>
        {displayName ?? name}
        {displayName && ` (${name})`}, {server.singleUser ? 'the single user of this server' : level.toLowerCase()}. The
        token in use has the scopes {viewer.scopes.map((each) => each.toLowerCase()).join(', ')}.
      </p>
      {may('TOKEN_OWN', 'TOKEN_ANY') && (
        <p>
          <Link to="/people/$part" params={{ part: 'tokens' }} search={{ user: name }} className={styles.link}>
            My tokens
          </Link>
        </p>
      )}
      <p>
        <Link to="/policies/$part" params={{ part: 'quotas' }} className={styles.link}>
          My quotas
        </Link>
      </p>
    </Section>
  )
}

function Keys() {
  const groups = useKeyGroups()
  return (
    <>
      <KeyTable groups={groups} />
      <p className={styles.help}>The key ? lists the keys of the page that is shown.</p>
    </>
  )
}
