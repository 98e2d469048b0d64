import { createFormatter, createTranslator } from 'use-intl/core'
import { en } from './en/index.ts'

/** The languages of the console by tag, named in themselves. */
export const languages = { en: 'English', 'zh-CN': '简体中文' } as const
export type Language = keyof typeof languages

type Shape<T> = { readonly [K in keyof T]: T[K] extends string ? string : Shape<T[K]> }
/** A translated catalog: the same keys as the English one. */
export type Messages = Shape<typeof en>

function createIntl(language: Language, messages: Messages) {
  const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone
  return {
    language,
    // The English literals type keys and arguments for every language; a test compares the catalogs.
    translate: createTranslator({ locale: language, messages: messages as typeof en, timeZone }),
    format: createFormatter({ locale: language, timeZone }),
  }
}

let current = createIntl('en', en)

/** Replaces the catalog of the whole page. Components must be mounted again afterwards; see `Providers`. */
export function activate(language: Language, messages: Messages): void {
  current = createIntl(language, messages)
}

type Translator = typeof current.translate

/** The message for a key in the current language; values fill its placeholders. Not for module scope, where the language is not known yet. */
export const t = ((...args: Parameters<Translator>) => current.translate(...args)) as Translator
t.rich = (...args) => current.translate.rich(...args)
t.has = (key) => current.translate.has(key)

/** The formatter of numbers, dates and lists for the current language. */
export const getFormat = () => current.format

/** Formats a number with grouped digits. */
export function formatNumber(value: number): string {
  return current.format.number(value)
}
