import type { ButtonHTMLAttributes, ReactNode } from 'react'
import styles from './button.module.css'

type Look = 'plain' | 'primary' | 'danger' | 'quiet'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look
  /** A link that looks like a button. */
  href?: string
}

export const buttonClasses = (look: Look, more?: string): string =>
  [styles.button, look !== 'plain' && styles[look], more].filter(Boolean).join(' ')

export function Button({ look = 'plain', href, className, ...rest }: ButtonProps) {
  const classes = buttonClasses(look, className)
  if (href !== undefined)
    return (
      <a className={classes} href={href}>
        {rest.children}
      </a>
    )
  return <button type="button" className={classes} {...rest} />
}

export const Buttons = ({ children }: { children: ReactNode }) => <div className={styles.buttons}>{children}</div>

export const Key = ({ children }: { children: ReactNode }) => <kbd className={styles.key}>{children}</kbd>
