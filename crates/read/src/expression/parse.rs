//! Parses text into a tree.

use std::ops::Range;
use std::sync::Arc;

use super::aggregates::AGGREGATES;
pub use super::token::CEIL;
use super::token::{Spelling, Token, tokens};
use super::tree::{
    Argument, Call, Chain, Condition, Expression, Node, Operator, Relation, SpannedWord, Steps,
    Text,
};
use crate::input::{Diagnostic, Diagnostics, Source};

/// Maximum nesting depth.
const DEEPEST: usize = 100;
/// Maximum number of variables of an aggregate.
const MOST_LOOPS: usize = 10;

/// Parses the expression `text`, which begins at the byte `start` of `source`; mistakes go to `diagnostics`.
pub fn parse(
    text: &str,
    source: &Arc<Source>,
    start: usize,
    diagnostics: &mut Diagnostics,
) -> Option<Text> {
    let root = read(text, source, start, Parser::compared, diagnostics)?;
    Some(Text {
        source: Arc::clone(source),
        root,
    })
}

/// Parses `for NAME in LIST for NAME in LIST …`, like [`parse`] for an expression.
pub fn parse_loops(
    text: &str,
    source: &Arc<Source>,
    start: usize,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<(SpannedWord, Expression)>> {
    read(text, source, start, Parser::loops, diagnostics)
}

/// Parses a rule of columns: arithmetic and functions of it, with anything in braces as a name and the operator [`CEIL`].
pub fn parse_rule(text: &str) -> Result<Expression, ParseMistake> {
    parse_whole(text, Spelling::Braced, 0, Parser::sum)
}

fn read<'t, T>(
    text: &'t str,
    source: &Arc<Source>,
    start: usize,
    rule: fn(&mut Parser<'t>) -> Result<T, ParseMistake>,
    diagnostics: &mut Diagnostics,
) -> Option<T> {
    match parse_whole(text, Spelling::Hyphenated, start, rule) {
        Ok(read) => Some(read),
        Err((span, title)) => {
            diagnostics.push(Diagnostic::at_span(source, span, title, "here"));
            None
        }
    }
}

fn parse_whole<'t, T>(
    text: &'t str,
    spelling: Spelling,
    start: usize,
    rule: fn(&mut Parser<'t>) -> Result<T, ParseMistake>,
) -> Result<T, ParseMistake> {
    let tokens = tokens(text, spelling).map_err(|span| {
        let title = match (text.get(span.clone()).unwrap_or_default(), spelling) {
            ("'", _) => "this quote is never closed".to_owned(),
            ("{", Spelling::Braced) => "braces hold the name of a column".to_owned(),
            (what, _) => format!("`{what}` is no part of an expression"),
        };
        (span.start + start..span.end + start, title)
    })?;
    let parser = Parser {
        tokens,
        spelling,
        at: 0,
        depth: 0,
        end: text.len(),
        start,
    };
    parser.parse_to_end(rule)
}

pub type ParseMistake = (Range<usize>, String);

struct Parser<'t> {
    spelling: Spelling,
    tokens: Vec<(Token<'t>, Range<usize>)>,
    at: usize,
    depth: usize,
    end: usize,
    start: usize,
}

const CLAUSES: [&str; 4] = ["for", "in", "where", "step"];

impl<'t> Parser<'t> {
    fn parse_to_end<T>(
        mut self,
        rule: fn(&mut Self) -> Result<T, ParseMistake>,
    ) -> Result<T, ParseMistake> {
        let read = rule(&mut self)?;
        match self.peek() {
            None => Ok(read),
            Some(_) => Err(self.wrong("the expression should end")),
        }
    }

    fn is_reserved(&self, name: &str) -> bool {
        self.spelling == Spelling::Hyphenated && CLAUSES.contains(&name)
    }

    fn peek(&self) -> Option<Token<'t>> {
        self.tokens.get(self.at).map(|(token, _)| *token)
    }

    fn place(&self) -> Range<usize> {
        let span = self.tokens.get(self.at).map(|(_, span)| span.clone());
        let span = span.unwrap_or(self.end.saturating_sub(1)..self.end);
        span.start + self.start..span.end + self.start
    }

    /// The range from `begin` to the end of the last token.
    fn since(&self, begin: usize) -> Range<usize> {
        let end = self.tokens.get(self.at.wrapping_sub(1));
        begin..end.map_or(begin, |(_, span)| span.end + self.start)
    }

    fn wrong(&self, expected: &str) -> ParseMistake {
        let title = match self.tokens.get(self.at) {
            Some((Token::Name(word) | Token::Quoted(word), _)) => {
                format!("{expected} before `{word}`")
            }
            Some((Token::Number(number), _)) => format!("{expected} before `{number}`"),
            Some((Token::Symbol(symbol), _)) => format!("{expected} before `{symbol}`"),
            None => format!("the expression ends too early: {expected}"),
        };
        (self.place(), title)
    }

    fn takes(&mut self, symbol: &str) -> bool {
        let is_there = matches!(self.peek(), Some(Token::Symbol(own)) if own == symbol);
        self.at += usize::from(is_there);
        is_there
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let is_there = matches!(self.peek(), Some(Token::Name(name)) if name == word);
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, symbol: &str) -> Result<(), ParseMistake> {
        if self.takes(symbol) {
            Ok(())
        } else {
            Err(self.wrong(&format!("expected `{symbol}`")))
        }
    }

    fn word(&mut self, what: &str) -> Result<SpannedWord, ParseMistake> {
        let span = self.place();
        match self.peek() {
            Some(Token::Name(name)) => {
                self.at += 1;
                let text = Arc::from(name);
                Ok(SpannedWord { text, span })
            }
            _ => Err(self.wrong(&format!("expected {what}"))),
        }
    }

    fn relation(&mut self) -> Option<Relation> {
        let relation = match self.peek()? {
            Token::Symbol("=" | "==") => Relation::Equal,
            Token::Symbol("!=") => Relation::Unequal,
            Token::Symbol("<") => Relation::Less,
            Token::Symbol("<=") => Relation::AtMost,
            Token::Symbol(">") => Relation::More,
            Token::Symbol(">=") => Relation::AtLeast,
            _ => return None,
        };
        self.at += 1;
        Some(relation)
    }

    fn compared(&mut self) -> Result<Expression, ParseMistake> {
        let begin = self.place().start;
        let left = self.ranged()?;
        let Some(relation) = self.relation() else {
            return Ok(left);
        };
        let right = vec![self.sum()?];
        let condition = Condition {
            left,
            relation,
            right,
        };
        Ok(Expression {
            node: Node::Compare(Box::new(condition)),
            span: self.since(begin),
        })
    }

    fn ranged(&mut self) -> Result<Expression, ParseMistake> {
        let begin = self.place().start;
        let from = self.sum()?;
        if !self.takes("..") {
            return Ok(from);
        }
        let to = self.sum()?;
        let step = if self.takes_word("step") {
            Some(self.sum()?)
        } else {
            None
        };
        Ok(Expression {
            node: Node::Range(Box::new(Steps { from, to, step })),
            span: self.since(begin),
        })
    }

    fn sum(&mut self) -> Result<Expression, ParseMistake> {
        let operators = [("+", Operator::Add), ("-", Operator::Subtract)];
        self.left_to_right(&operators, Self::product)
    }

    fn product(&mut self) -> Result<Expression, ParseMistake> {
        let operators = [("*", Operator::Multiply), ("/", Operator::Divide)];
        self.left_to_right(&operators, Self::signed)
    }

    fn left_to_right(
        &mut self,
        operators: &[(&str, Operator)],
        next: fn(&mut Self) -> Result<Expression, ParseMistake>,
    ) -> Result<Expression, ParseMistake> {
        let begin = self.place().start;
        let first = next(self)?;
        let mut rest = Vec::new();
        while let Some((_, operator)) = operators.iter().find(|(symbol, _)| self.takes(symbol)) {
            rest.push((*operator, next(self)?));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(Expression {
            node: Node::Chain(Box::new(Chain { first, rest })),
            span: self.since(begin),
        })
    }

    fn signed(&mut self) -> Result<Expression, ParseMistake> {
        let begin = self.place().start;
        if self.takes("-") {
            let value = self.deeper(Self::signed)?;
            return Ok(Expression {
                node: Node::Negative(Box::new(value)),
                span: self.since(begin),
            });
        }
        let operator = self.place();
        if self.takes(CEIL) {
            let value = self.deeper(Self::signed)?;
            let call = Call::with_argument(CEIL, operator, value);
            return Ok(Expression {
                node: Node::Call(Box::new(call)),
                span: self.since(begin),
            });
        }
        let base = self.deeper(Self::atom)?;
        if !self.takes("^") {
            return Ok(base);
        }
        let chain = Chain {
            first: base,
            rest: vec![(Operator::Power, self.deeper(Self::signed)?)],
        };
        Ok(Expression {
            node: Node::Chain(Box::new(chain)),
            span: self.since(begin),
        })
    }

    fn deeper<T>(
        &mut self,
        next: fn(&mut Self) -> Result<T, ParseMistake>,
    ) -> Result<T, ParseMistake> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err((
                self.place(),
                format!("more than {DEEPEST} parts inside of each other"),
            ));
        }
        let value = next(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn atom(&mut self) -> Result<Expression, ParseMistake> {
        let begin = self.place().start;
        let node = match self.peek() {
            Some(Token::Number(number)) => {
                self.at += 1;
                Node::Number(number)
            }
            Some(Token::Quoted(text)) => {
                self.at += 1;
                Node::Quoted(Arc::from(text))
            }
            Some(Token::Symbol("(")) => {
                self.at += 1;
                let inner = self.compared()?;
                self.expect(")")?;
                inner.node
            }
            Some(Token::Symbol("[")) => {
                self.at += 1;
                let mut all = Vec::new();
                while !self.takes("]") {
                    all.push(self.ranged()?);
                    if !self.takes(",") {
                        self.expect("]")?;
                        break;
                    }
                }
                Node::List(all)
            }
            Some(Token::Name(name)) if !self.is_reserved(name) => {
                let word = self.word("a name")?;
                if self.takes("(") {
                    Node::Call(Box::new(self.call(word)?))
                } else {
                    Node::Name(word.text)
                }
            }
            _ => return Err(self.wrong("expected a value")),
        };
        let span = self.since(begin);
        Ok(Expression { node, span })
    }

    /// The rest of a call after its name and bracket.
    fn call(&mut self, name: SpannedWord) -> Result<Call, ParseMistake> {
        let is_aggregate = AGGREGATES.contains(&&*name.text);
        let mut call = Call {
            name,
            arguments: Vec::new(),
            loops: Vec::new(),
            table: None,
            conditions: Vec::new(),
        };
        let ends = |parser: &Self| match parser.peek() {
            Some(Token::Name(name)) => parser.is_reserved(name),
            token => token == Some(Token::Symbol(")")),
        };
        while !ends(self) {
            call.arguments.push(self.argument(is_aggregate)?);
            if !self.takes(",") {
                break;
            }
        }
        // A column may have the name of a clause.
        if is_aggregate && self.spelling == Spelling::Hyphenated {
            call.loops = self.loops()?;
            if self.takes_word("in") {
                call.table = Some(self.word("the name of a table")?);
            }
            if self.takes_word("where") {
                while !self.takes(")") {
                    call.conditions.push(self.condition()?);
                }
                return Ok(call);
            }
        }
        self.expect(")")?;
        Ok(call)
    }

    /// `for NAME in LIST`, any number of times.
    fn loops(&mut self) -> Result<Vec<(SpannedWord, Expression)>, ParseMistake> {
        let mut loops = Vec::new();
        while self.takes_word("for") {
            if loops.len() == MOST_LOOPS {
                let title = format!("more than {MOST_LOOPS} variables inside of each other");
                return Err((self.place(), title));
            }
            let name = self.word("the name of a variable")?;
            if !self.takes_word("in") {
                return Err(self.wrong("expected `in` and a list"));
            }
            loops.push((name, self.ranged()?));
        }
        Ok(loops)
    }

    fn argument(&mut self, of_aggregate: bool) -> Result<Argument, ParseMistake> {
        let is_named = matches!(self.peek(), Some(Token::Name(_)))
            && (self.tokens.get(self.at + 1)).is_some_and(|(t, _)| *t == Token::Symbol("="));
        if is_named && !of_aggregate {
            let name = Some(self.word("a name")?);
            self.expect("=")?;
            let value = self.ranged()?;
            return Ok(Argument { name, value });
        }
        let value = self.compared()?;
        Ok(Argument { name: None, value })
    }

    fn condition(&mut self) -> Result<Condition, ParseMistake> {
        let left = self.sum()?;
        let Some(relation) = self.relation() else {
            return Err(self.wrong("expected a comparison such as `KEY=VALUE`"));
        };
        let mut right = vec![self.sum()?];
        while self.takes(",") {
            right.push(self.sum()?);
        }
        Ok(Condition {
            left,
            relation,
            right,
        })
    }
}
