import { type ReactNode, useState } from 'react'
import { Button as AriaButton, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components'
import styles from './menu.module.css'

export interface MenuChoice {
  text: string
  detail?: string
  isDangerous?: boolean
  run: () => void
}

export interface MenuProps {
  label: ReactNode
  items: readonly MenuChoice[]
}

/** Opens when it is mounted, because the click that loaded this code asked for the menu. */
export default function LoadedMenu({ label, className, items }: MenuProps & { className: string }) {
  const [isOpen, setOpen] = useState(true)
  return (
    <MenuTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <AriaButton className={className}>{label}</AriaButton>
      <Popover className={styles.popover ?? ''} placement="bottom end">
        <Menu className={styles.menu ?? ''} aria-label={typeof label === 'string' ? label : 'More actions'}>
          {items.map(({ text, detail, isDangerous = false, run }) => (
            <MenuItem
              key={text}
              className={styles.item ?? ''}
              textValue={text}
              data-danger={isDangerous}
              onAction={run}
            >
              {text}
              {detail && <small>{detail}</small>}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  )
}
