import { en } from './en/index.ts'
import { activate, type Language, languages, type Messages } from './index.ts'

const storageKey = 'language'

/**
 * Runs in <head> before the first paint. The server renders English; for other languages the page stays hidden until its catalog is
 * active, see globals.css.
 */
export const languageScript = `(function(){try{var l=localStorage.getItem('${storageKey}')}catch(e){}if(!l)l=/^zh\\b/i.test(navigator.language)?'zh-CN':'en';if(l!=='en')document.documentElement.dataset.languagePending=''})()`

let active: Language = 'en'
const listeners = new Set<() => void>()
const ready = Promise.withResolvers<void>()

/** Resolves when the first language is active. Effects that must run once per page load wait for it. */
export const languageReady = ready.promise

/** The language of the first preference we support; any Chinese maps to Simplified Chinese. */
export function matchLanguage(preferred: readonly string[]): Language {
  const [first = 'en'] = preferred
  return /^zh\b/i.test(first) ? 'zh-CN' : 'en'
}

function readLanguage(): Language {
  const stored = localStorage.getItem(storageKey)
  return stored !== null && Object.hasOwn(languages, stored) ? (stored as Language) : matchLanguage(navigator.languages)
}

async function loadMessages(language: Language): Promise<Messages> {
  return language === 'zh-CN' ? (await import('./zh-CN/index.ts')).zhCN : en
}

async function apply(language: Language): Promise<void> {
  const messages = await loadMessages(language)
  activate(language, messages)
  active = language
  document.documentElement.lang = language
  for (const listener of listeners) listener()
}

/** Activates the stored language, or the browser's. English stays active when the catalog can't be loaded. */
export async function startLanguage(): Promise<void> {
  const language = readLanguage()
  if (language !== active) {
    await apply(language).catch(() => undefined)
    // React remounts the page in a microtask; only then may effects start.
    await new Promise((resolve) => setTimeout(resolve))
  }
  delete document.documentElement.dataset.languagePending
  ready.resolve()
}

/** Stores and activates a language. */
export function setLanguage(language: Language): void {
  localStorage.setItem(storageKey, language)
  void apply(language)
}

export const getLanguage = (): Language => active

export function subscribeLanguage(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
