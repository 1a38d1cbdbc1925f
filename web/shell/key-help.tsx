import { Dialog, Heading } from 'react-aria-components'
import { useKeyGroups } from '../ground/keys.ts'
import { changeSettings, useSettings } from '../ground/settings.ts'
import { KeyTable } from '../parts/key-table.tsx'
import { LayerFrame } from './layer-frame.tsx'
import styles from './layers.module.css'

export function KeyHelp() {
  const groups = useKeyGroups()
  const { singleKeys } = useSettings()
  return (
    <LayerFrame>
      <Dialog className={styles.dialog ?? ''}>
        <Heading slot="title">Keys</Heading>
        <KeyTable groups={groups} />
        <label>
          <input
            type="checkbox"
            checked={singleKeys}
            onChange={({ target }) => changeSettings({ singleKeys: target.checked })}
          />{' '}
          Single keys work outside of fields
        </label>
      </Dialog>
    </LayerFrame>
  )
}
