import { section } from './keys.ts'
import { formatProblem, list, matching, text, url, word } from './value.ts'

/** `console:` of the configuration file: what the web console shows of the installation. */

const linksMax = 20

export const linkTargets = ['MENU', 'JOB', 'NODE'] as const

export const consoleSection = section({
  title: text('GPU lab').default('Berth'),
  accent: matching('a colour as #RRGGBB', /^#[0-9a-fA-F]{6}$/, '"#1A4FD6"')
    .nullable()
    .default(null),
  links: list(
    section({
      title: text('Grafana'),
      url: url(['http:', 'https:'], { what: 'an http or https URL', example: 'https://grafana.example.org/d/{id}' }),
      on: word(linkTargets).default('MENU'),
    }),
  )
    .max(linksMax, formatProblem(`has more than ${linksMax} links`, 'remove some'))
    .default([]),
})
