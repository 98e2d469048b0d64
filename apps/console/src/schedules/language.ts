import { getLanguage } from '@/messages/language.ts'

/** The language in which the API describes rules. */
export const ruleLanguage = () => (getLanguage() === 'zh-CN' ? 'ZH_CN' : 'EN')
