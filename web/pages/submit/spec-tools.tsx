import { JobFileError } from '@berth-jobs/berth/client'
import { useRef } from 'react'
import { specForms } from '../../features/spec/spec-copies.ts'
import { linkToSubmit } from '../../features/spec/spec-link.ts'
import type { JobSpecInput } from '../../generated/graphql.ts'
import { baseUrl } from '../../ground/connection.ts'
import { Button } from '../../parts/button.tsx'
import { copyText } from '../../parts/copy-text.ts'
import { MenuButton } from '../../parts/menu-button.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { Tabs } from '../../parts/tabs.tsx'
import { showToast } from '../../parts/toasts.tsx'
import { type DraftSpec, specCharactersMax, translateFile } from './spec-text.ts'
import styles from './submit.module.css'

interface ToolsProps {
  spec: DraftSpec | null
  text: string
  view: string | undefined
  from: string | undefined
  onOpen: (text: string) => void
}

const views = [
  { view: undefined, title: 'Form' },
  { view: 'yaml', title: 'YAML' },
] as const

function copyForm(title: string, format: () => string) {
  try {
    void copy(format(), title)
  } catch {
    // Formatting fails if values of the draft have wrong types.
    showToast('Correct the marked values first.', { isTrouble: true })
  }
}

async function copy(text: string, what: string) {
  await copyText(text)
  showToast(`Copied ${what}`)
}

function saveSpec(text: string, spec: DraftSpec | null) {
  const name = typeof spec?.['name'] === 'string' ? spec['name'].replace(/[^\w.-]+/g, '-') : 'job'
  saveFile(`${name}.yaml`, text, 'application/yaml')
}

/** Buttons to switch between form and YAML, and to open, save and copy the spec. */
export function SpecTools({ spec, text, view, from, onOpen }: ToolsProps) {
  const file = useRef<HTMLInputElement>(null)
  const open = async (chosen: File | undefined) => {
    if (!chosen) return
    if (chosen.size > specCharactersMax)
      return showToast(`${chosen.name} has more than ${specCharactersMax / 1e6} MB. Submit it by “berth submit -f”.`, {
        isTrouble: true,
      })
    try {
      const { text: translated, warnings } = translateFile(await chosen.text())
      onOpen(translated)
      for (const warning of warnings) showToast(warning)
    } catch (error) {
      const text =
        error instanceof JobFileError ? [error.message, error.next].filter(Boolean).join('; ') : String(error)
      showToast(text, { isTrouble: true })
    }
  }
  const input = spec as JobSpecInput | null
  const copies = input
    ? [
        ...Object.values(specForms).map(({ title, format }) => ({
          text: title,
          run: () => copyForm(title, () => (title === 'YAML' ? text : format(input, baseUrl))),
        })),
        {
          text: 'Link to this form',
          run: () => void copy(`${baseUrl}jobs/new#${linkToSubmit(input).hash}`, 'the link'),
        },
      ]
    : []
  return (
    <Tabs
      label="Views of the spec"
      tabs={views.map((each) => ({
        title: each.title,
        isShown: view === each.view,
        to: '/jobs/new',
        search: { from, view: each.view },
        hash: true,
      }))}
    >
      <span className={styles.tools}>
        <input
          ref={file}
          type="file"
          hidden
          accept=".yaml,.yml,.json"
          onChange={({ target }) => {
            void open(target.files?.[0])
            target.value = ''
          }}
        />
        <Button look="quiet" onClick={() => file.current?.click()}>
          Open file
        </Button>
        <Button look="quiet" disabled={text === ''} onClick={() => saveSpec(text, spec)}>
          Save file
        </Button>
        {copies.length > 0 && <MenuButton look="quiet" label="Copy as" items={copies} />}
      </span>
    </Tabs>
  )
}
