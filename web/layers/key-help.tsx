import { Dialog, Heading } from 'react-aria-components'
import { useKeyGroups } from '../app/keys.ts'
import { changeSettings, useSettings } from '../app/settings.ts'
import { Key } from '../parts/button.tsx'
import { LayerFrame } from './layer-frame.tsx'
import styles from './layers.module.css'

const keyName = (key: string) =>
  key
    .replace('$mod', navigator.platform.startsWith('Mac') ? '⌘' : 'Ctrl')
    .replace('Escape', 'Esc')
    .replace('Enter', '↵')
    .replace(/\+(\w)$/, (_, letter: string) => ` ${letter.toUpperCase()}`)

/** The keys of the page that is shown. */
export function KeyHelp() {
  const groups = useKeyGroups()
  const { singleKeys } = useSettings()
  return (
    <LayerFrame>
      <Dialog className={styles.dialog ?? ''}>
        <Heading slot="title">Keys</Heading>
        <div className={styles.keys}>
          {groups.toReversed().map(({ title, bindings }) => (
            <section key={title}>
              <h3>{title}</h3>
              <ul>
                {bindings
                  .filter(({ help }) => help !== '')
                  .map(({ keys, help }) => (
                    <li key={keys}>
                      <span>{help}</span>
                      <span>
                        {keys.split(' ').map((key) => (
                          <Key key={key}>{keyName(key)}</Key>
                        ))}
                      </span>
                    </li>
                  ))}
              </ul>
            </section>
          ))}
        </div>
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
