use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::{LlamaChatMessage, LlamaModel};
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::vocab::LlamaVocab;
use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use surehand_model::Usage;

use super::engine::EngineError;
use super::prefix::PrefixStore;
use super::stop::Stop;

/// A model, its context, and what the context holds at the moment.
pub(crate) struct Session<'m> {
    model: &'m LlamaModel,
    vocab: LlamaVocab<'m>,
    context: LlamaContext<'m>,
    /// The tokens that the context has computed, in order.
    held: Vec<LlamaToken>,
    /// The index of the last batch's outputs, to read the logits of the last token by.
    last: i32,
    grammars: Option<ParserFactory>,
    store: PrefixStore,
    usage: Usage,
}

/// Why the model stopped writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It had no more to say, or the grammar was at its end.
    Whole,
    /// It was cut at the limit.
    Cut,
}

impl<'m> Session<'m> {
    /// Tokens computed at once. More is hardly faster, and whoever stops waits for one batch.
    pub(crate) const BATCH: usize = 256;

    pub(crate) fn new(model: &'m LlamaModel, context: LlamaContext<'m>, store: PrefixStore) -> Self {
        Self {
            model,
            vocab: model.vocab(),
            context,
            held: Vec::new(),
            last: 0,
            grammars: None,
            store,
            usage: Usage::default(),
        }
    }

    /// Tokens read and written since the last time this was asked.
    pub(crate) fn take_usage(&mut self) -> Usage {
        std::mem::take(&mut self.usage)
    }

    /// Tokens written since the usage was last taken.
    pub(crate) fn written(&self) -> u64 {
        self.usage.output_tokens
    }

    /// The most tokens that prompt and answer may have together.
    pub(crate) fn limit(&self) -> usize {
        self.context.n_ctx() as usize
    }

    /// The text as tokens; special ones such as `<|im_end|>` are recognised only where `special` says so.
    pub(crate) fn tokens(&self, text: &str, special: bool) -> Vec<LlamaToken> {
        self.vocab.tokenize(text.as_bytes(), false, special)
    }

    /// Renders messages by the model's own template, ready for the assistant to go on with `begun`.
    ///
    /// The second value tells for each message how many tokens stand before its own text.
    /// What the messages say is never read as control tokens. A model without a template that the runtime knows is spoken to in
    /// ChatML.
    pub(crate) fn prompt(&self, messages: &[(&str, &str)], begun: &str) -> (Vec<LlamaToken>, Vec<usize>) {
        let marks: Vec<String> = (0..messages.len()).map(|index| format!("[[message-{index}]]")).collect();
        let marked: Vec<(&str, &str)> =
            messages.iter().zip(&marks).map(|((role, _), mark)| (*role, mark.as_str())).collect();
        let frame =
            self.render(&marked).filter(|text| marks.iter().all(|mark| text.matches(mark).count() == 1));
        let frame = frame.unwrap_or_else(|| chatml(&marked));
        let mut tokens = Vec::new();
        let mut starts = Vec::new();
        let mut rest = frame.as_str();
        for ((_, text), mark) in messages.iter().zip(&marks) {
            let Some((before, after)) = rest.split_once(mark.as_str()) else { continue };
            tokens.extend(self.tokens(before, true));
            starts.push(tokens.len());
            tokens.extend(self.tokens(text, false));
            rest = after;
        }
        tokens.extend(self.tokens(rest, true));
        tokens.extend(self.tokens(begun, true));
        (tokens, starts)
    }

    fn render(&self, messages: &[(&str, &str)]) -> Option<String> {
        let template = self.model.chat_template(None).ok()?;
        let chat: Result<Vec<_>, _> = messages
            .iter()
            .map(|(role, text)| LlamaChatMessage::new((*role).to_owned(), (*text).to_owned()))
            .collect();
        self.model.apply_chat_template(&template, &chat.ok()?, true).ok()
    }

    /// Reads a prompt, so that the logits of what follows it are ready. Its first `prefix` tokens are kept for the next time.
    pub(crate) fn read(
        &mut self,
        prompt: &[LlamaToken],
        prefix: usize,
        stop: &Stop,
    ) -> Result<(), EngineError> {
        if prompt.is_empty() || prompt.len() >= self.limit() {
            return Err(EngineError::TooLong { tokens: prompt.len(), limit: self.limit() });
        }
        self.usage.input_tokens += prompt.len() as u64;
        let prefix = prefix.min(prompt.len() - 1);
        if self.common(prompt) < prefix {
            let beginning = &prompt[..prefix];
            if self.store.knows(beginning) {
                self.cut_to(0)?;
                if self.store.load(beginning, &mut self.context) {
                    self.held = beginning.to_vec();
                } else {
                    // A file that broke off may have left half a state behind.
                    self.cut_to(0)?;
                }
            }
            let common = self.common(beginning);
            self.cut_to(common)?;
            if common < prefix {
                self.compute(&beginning[common..], stop)?;
                self.store.save(beginning, &self.context);
            }
        }
        // The last token is always computed again, because only that makes its logits readable.
        let common = self.common(prompt).min(prompt.len() - 1);
        self.cut_to(common)?;
        self.compute(&prompt[common..], stop)
    }

    /// Reads on from where the context stands.
    pub(crate) fn read_on(&mut self, tokens: &[LlamaToken], stop: &Stop) -> Result<(), EngineError> {
        self.usage.input_tokens += tokens.len() as u64;
        self.compute(tokens, stop)
    }

    /// What the model thinks of each token as the next one.
    pub(crate) fn logits(&self) -> &[f32] {
        self.context.get_logits_ith(self.last)
    }

    /// The probability of each of `words`, by its first token, among all that could come next.
    pub(crate) fn chances(&self, words: &[&str]) -> Vec<f32> {
        let logits = self.logits();
        let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f32 = logits.iter().map(|logit| (logit - top).exp()).sum();
        words
            .iter()
            .map(|word| match self.tokens(word, true).first() {
                Some(token) => (logits[token.0 as usize] - top).exp() / sum,
                None => 0.0,
            })
            .collect()
    }

    /// Writes what the grammar allows, greedily, until it is at its end or `limit` tokens are written.
    ///
    /// Where the grammar leaves one way only, the bytes are put in as a batch instead of token by token. The last token of such a
    /// stretch is left to the model: its text may be the beginning of a longer token. Each stretch of text goes to `on_text`.
    pub(crate) fn write_by_grammar(
        &mut self,
        grammar: &str,
        limit: usize,
        stop: &Stop,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<(String, Ending), EngineError> {
        let mut matcher = self.matcher(grammar)?;
        let fault = |error: &dyn std::fmt::Display| EngineError::Grammar { why: error.to_string() };
        let mut written: Vec<LlamaToken> = Vec::new();
        let mut pending: Vec<LlamaToken> = Vec::new();
        let mut ending = Ending::Cut;
        while written.len() < limit {
            if stop.is_set() {
                return Err(EngineError::Stopped);
            }
            if matcher.is_stopped() {
                ending = Ending::Whole;
                break;
            }
            let forced = matcher.compute_ff_bytes();
            if !forced.is_empty() {
                let mut tokens = self.vocab.tokenize(&forced, false, false);
                tokens.pop();
                let ids: Vec<u32> = tokens.iter().map(|token| token.0.cast_unsigned()).collect();
                let fit = matcher.validate_tokens(&ids).map_err(|error| fault(&error))?;
                if fit > 0 {
                    matcher.consume_tokens(&ids[..fit]).map_err(|error| fault(&error))?;
                    on_text(&self.text(&tokens[..fit]));
                    pending.extend_from_slice(&tokens[..fit]);
                    written.extend_from_slice(&tokens[..fit]);
                    continue;
                }
            }
            if !pending.is_empty() {
                self.compute(&pending, stop)?;
                pending.clear();
            }
            let mask = matcher.compute_mask_or_eos().map_err(|error| fault(&error))?;
            let logits = self.logits();
            let mut best: Option<(usize, f32)> = None;
            mask.iter_set_entries(|token| {
                if let Some(&logit) = logits.get(token)
                    && best.is_none_or(|(_, top)| logit > top)
                {
                    best = Some((token, logit));
                }
            });
            let Some((token, _)) = best else {
                return Err(EngineError::Grammar { why: "no token is allowed here".to_owned() });
            };
            let token = LlamaToken(token as i32);
            if self.vocab.is_eog(token) {
                ending = Ending::Whole;
                break;
            }
            matcher.consume_token(token.0.cast_unsigned()).map_err(|error| fault(&error))?;
            on_text(&self.text(&[token]));
            pending.push(token);
            written.push(token);
        }
        if matcher.is_stopped() {
            ending = Ending::Whole;
        }
        // What follows, if anything does, is read in one batch with this.
        self.compute(&pending, stop)?;
        self.usage.output_tokens += written.len() as u64;
        Ok((self.text(&written), ending))
    }

    /// Writes freely, greedily, until the model ends its turn or `limit` tokens are written. Whole characters go to `on_text`.
    ///
    /// `may` is asked, with what is written so far and what would come next, whether that may stand there; where it may not, the
    /// next best token is tried.
    pub(crate) fn write_text(
        &mut self,
        limit: usize,
        stop: &Stop,
        may: &dyn Fn(&str, &str) -> bool,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<(String, Ending), EngineError> {
        let mut bytes: Vec<u8> = Vec::new();
        let mut told = 0;
        let mut written: Vec<LlamaToken> = Vec::new();
        let mut ending = Ending::Cut;
        while written.len() < limit && self.held.len() + 1 < self.limit() {
            if stop.is_set() {
                return Err(EngineError::Stopped);
            }
            let token = self.best_token(&|token| {
                let piece = self.vocab.token_to_piece(token, false, None);
                may(&String::from_utf8_lossy(&bytes), &String::from_utf8_lossy(&piece))
            });
            if self.vocab.is_eog(token) || goes_round(&written) {
                ending = Ending::Whole;
                break;
            }
            bytes.extend(self.vocab.token_to_piece(token, false, None));
            written.push(token);
            let whole = told + whole_characters(&bytes[told..]);
            if whole > told {
                on_text(&String::from_utf8_lossy(&bytes[told..whole]));
                told = whole;
            }
            self.compute(&[token], stop)?;
        }
        self.usage.output_tokens += written.len() as u64;
        Ok((String::from_utf8_lossy(&bytes[..told]).into_owned(), ending))
    }

    /// The likeliest token that may come next; the very likeliest where none of the first few may.
    fn best_token(&self, may: &dyn Fn(LlamaToken) -> bool) -> LlamaToken {
        const TRIES: usize = 64;
        let logits = self.logits();
        let mut refused: Vec<usize> = Vec::new();
        let best = |refused: &[usize]| {
            let mut best = (0, f32::NEG_INFINITY);
            for (token, &logit) in logits.iter().enumerate() {
                if logit > best.1 && !refused.contains(&token) {
                    best = (token, logit);
                }
            }
            best.0
        };
        let first = best(&refused);
        let mut token = first;
        while refused.len() < TRIES {
            let candidate = LlamaToken(token as i32);
            if self.vocab.is_eog(candidate) || may(candidate) {
                return candidate;
            }
            refused.push(token);
            token = best(&refused);
        }
        LlamaToken(first as i32)
    }

    fn text(&self, tokens: &[LlamaToken]) -> String {
        let bytes: Vec<u8> =
            tokens.iter().flat_map(|&token| self.vocab.token_to_piece(token, false, None)).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn matcher(&mut self, grammar: &str) -> Result<Matcher, EngineError> {
        let fault = |error: String| EngineError::Grammar { why: error };
        if self.grammars.is_none() {
            // Walks the whole vocabulary, so it is done once and only when a grammar is wanted.
            let mut factory = ParserFactory::new_simple(&LlamaSampler::llguidance_tok_env(self.model))
                .map_err(|error| fault(error.to_string()))?;
            factory.quiet();
            self.grammars = Some(factory);
        }
        let Some(factory) = &self.grammars else { return Err(fault("no factory".to_owned())) };
        let matcher = Matcher::new(factory.create_parser(TopLevelGrammar::from_lark(grammar.to_owned())));
        match matcher.get_error() {
            Some(error) => Err(fault(error)),
            None => Ok(matcher),
        }
    }

    fn common(&self, prompt: &[LlamaToken]) -> usize {
        self.held.iter().zip(prompt).take_while(|(held, wanted)| held == wanted).count()
    }

    /// Forgets everything after the first `length` tokens.
    fn cut_to(&mut self, length: usize) -> Result<(), EngineError> {
        if length == 0 {
            self.context.clear_kv_cache();
        } else if length < self.held.len() {
            self.context
                .kv_cache_seq_rm(0, u32::try_from(length).ok(), None)
                .map_err(|error| EngineError::Compute { why: error.to_string() })?;
        }
        self.held.truncate(length);
        Ok(())
    }

    fn compute(&mut self, tokens: &[LlamaToken], stop: &Stop) -> Result<(), EngineError> {
        let fault = |error: &dyn std::fmt::Display| EngineError::Compute { why: error.to_string() };
        if self.held.len() + tokens.len() > self.limit() {
            return Err(EngineError::TooLong { tokens: self.held.len() + tokens.len(), limit: self.limit() });
        }
        for chunk in tokens.chunks(Self::BATCH) {
            if stop.is_set() {
                return Err(EngineError::Stopped);
            }
            let mut batch = LlamaBatch::new(chunk.len(), 1);
            for (index, &token) in chunk.iter().enumerate() {
                let position = i32::try_from(self.held.len() + index).unwrap_or(i32::MAX);
                batch.add(token, position, &[0], index + 1 == chunk.len()).map_err(|error| fault(&error))?;
            }
            if let Err(error) = self.context.decode(&mut batch) {
                // What a failed batch leaves behind is not known, so nothing of it is trusted.
                self.context.clear_kv_cache();
                self.held.clear();
                return Err(fault(&error));
            }
            self.held.extend_from_slice(chunk);
            self.last = batch.n_tokens() - 1;
        }
        Ok(())
    }
}

/// Messages in ChatML, for models without a template of their own.
fn chatml(messages: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (role, words) in messages {
        text.push_str(&format!("<|im_start|>{role}\n{words}<|im_end|>\n"));
    }
    text.push_str("<|im_start|>assistant\n");
    text
}

/// How many of the bytes form whole characters; a character that has only begun is left for later.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.len(),
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Err(_) => bytes.len(),
    }
}

/// Whether the model has said the same stretch of tokens three times over, and so would for ever.
fn goes_round<T: PartialEq>(written: &[T]) -> bool {
    (8..=40).any(|length| {
        let Some(start) = written.len().checked_sub(3 * length) else { return false };
        let tail = &written[start..];
        tail[..length] == tail[length..2 * length] && tail[..length] == tail[2 * length..]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_told_when_its_last_byte_is_there() {
        let text = "天".as_bytes();
        assert_eq!(
            (whole_characters(&text[..2]), whole_characters(text), whole_characters(b"a\xe5")),
            (0, 3, 1)
        );
    }

    #[test]
    fn three_times_the_same_words_is_going_round() {
        let once: Vec<u8> = (0..9).collect();
        let thrice = [&[99][..], &once, &once, &once].concat();
        assert!(goes_round(&thrice));
        assert!(!goes_round(&thrice[..27]));
    }

    #[test]
    fn chatml_ends_where_the_assistant_begins() {
        assert_eq!(
            chatml(&[("system", "s"), ("user", "u")]),
            "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n"
        );
    }
}
