/** Escapes text for HTML, both for content and for quoted attributes. */
import MarkdownIt from 'markdown-it';

export const { escapeHtml } = new MarkdownIt().utils;
