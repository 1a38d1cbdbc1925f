import type { ButtonHTMLAttributes, ReactNode } from 'react'
import styles from './button.module.css'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: 'plain' | 'primary' | 'danger' | 'quiet'
  /** A link that looks like a button. */
  href?: string
}

export function Button({ look = 'plain', href, className, ...rest }: ButtonProps) {
  const classes = [styles.button, look !== 'plain' && styles[look], className].filter(Boolean).join(' ')
  if (href !== undefined)
    return (
      <a className={classes} href={href}>
        {rest.children}
      </a>
    )
  return <button type="button" className={classes} {...rest} />
}

export const Key = ({ children }: { children: ReactNode }) => <kbd className={styles.key}>{children}</kbd>
