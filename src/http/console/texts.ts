/** The labels and sentences of the console, which is in English only. */
export { default as texts } from '../../../content/texts/console.en.json' with { type: 'json' };
