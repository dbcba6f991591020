//! An expression as a tree; each node has its place in the text.

use std::ops::Range;
use std::sync::Arc;

use crate::input::Source;

/// An expression and the text of its places.
#[derive(Debug, Clone)]
pub struct Text {
    pub source: Arc<Source>,
    pub root: Expression,
}

#[derive(Debug, Clone)]
pub struct Definition {
    pub parameters: Vec<String>,
    pub body: Text,
}

#[derive(Debug, Clone)]
pub struct Expression {
    pub node: Node,
    pub span: Range<usize>,
}

#[derive(Debug, Clone)]
pub enum Node {
    /// `1.5`.
    Number(f64),
    /// `'Shake large'`.
    Quoted(Arc<str>),
    /// A variable, a column or a word.
    Name(Arc<str>),
    /// `[1, 2]`.
    List(Vec<Expression>),
    /// `1..23 step 2`.
    Range(Box<Steps>),
    /// `-x`.
    Negative(Box<Expression>),
    /// `a + b - c`, from left to right.
    Chain(Box<Chain>),
    /// `a < b`.
    Compare(Box<Condition>),
    /// `mean(time_h where workers=8)`.
    Call(Box<Call>),
}

/// From one number to another in equal steps.
#[derive(Debug, Clone)]
pub struct Steps {
    pub from: Expression,
    pub to: Expression,
    /// The step; 1 if absent.
    pub step: Option<Expression>,
}

/// Numbers with operators between them, in one flat list: no part is nested in another.
#[derive(Debug, Clone)]
pub struct Chain {
    pub first: Expression,
    /// Further operands, each with the operator before it.
    pub rest: Vec<(Operator, Expression)>,
}

impl Chain {
    pub fn all(&self) -> impl Iterator<Item = &Expression> {
        [&self.first]
            .into_iter()
            .chain(self.rest.iter().map(|(_, part)| part))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
}

/// The relation between two compared values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// A comparison; if there are several values on the right, one is enough.
#[derive(Debug, Clone)]
pub struct Condition {
    pub left: Expression,
    pub relation: Relation,
    pub right: Vec<Expression>,
}

#[derive(Debug, Clone)]
pub struct SpannedWord {
    pub text: Arc<str>,
    pub span: Range<usize>,
}

/// A function of its arguments, or an aggregate over rows.
#[derive(Debug, Clone)]
pub struct Call {
    pub name: SpannedWord,
    pub arguments: Vec<Argument>,
    /// `for NAME in LIST`.
    pub loops: Vec<(SpannedWord, Expression)>,
    /// `in TABLE`.
    pub table: Option<SpannedWord>,
    /// `where KEY=VALUE …`: all hold.
    pub conditions: Vec<Condition>,
}

impl Call {
    /// A function, written at `span`, of one argument.
    pub fn with_argument(name: &str, span: Range<usize>, value: Expression) -> Call {
        Call {
            name: SpannedWord {
                text: Arc::from(name),
                span,
            },
            arguments: vec![Argument { name: None, value }],
            loops: Vec::new(),
            table: None,
            conditions: Vec::new(),
        }
    }
}

/// An argument, with its name if it is written.
#[derive(Debug, Clone)]
pub struct Argument {
    /// `NAME=`.
    pub name: Option<SpannedWord>,
    pub value: Expression,
}
