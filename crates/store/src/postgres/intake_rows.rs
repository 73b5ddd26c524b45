//! Rows of a copy as PostgreSQL takes and gives them.

use std::error::Error;

use bytes::BytesMut;
use rustc_hash::FxHashSet;
use tokio_postgres::{
    Row as PgRow,
    types::{IsNull, ToSql, Type, to_sql_checked},
};
use trawl_types::PageId;

use super::{
    fault::Fault,
    identity::next_choice,
    pool::Conn,
    text::{Heard, Said},
};
use crate::copy::{
    cells::{Cell, Row},
    plan::{Col, Plan},
    source::Batch,
};

/// Pages whose number is taken get the next free one.
pub(super) async fn settle(conn: &Conn, batch: &mut Batch) -> Result<Vec<(i64, i64)>, Fault> {
    let mut taken: FxHashSet<i64> = FxHashSet::default();
    let mut moved = Vec::new();
    let wanted: Vec<i64> = batch.rows.iter().map(|row| int(&row[0])).collect();
    let sql = "SELECT page FROM urls WHERE page = ANY($1)";
    for row in conn.query(sql, &[&wanted]).await? {
        taken.insert(row.get(0));
    }
    for (row, id) in batch.rows.iter_mut().zip(&batch.ids) {
        let first = int(&row[0]);
        let mut page = first;
        while taken.contains(&page) {
            page = next_choice(PageId(page)).0;
            let sql = "SELECT 1 FROM urls WHERE page = $1";
            if conn.query_opt(sql, &[&page]).await?.is_some() {
                taken.insert(page);
            }
        }
        taken.insert(page);
        if page != first {
            row[0] = Cell::Int(page);
            moved.push((*id, page));
        }
    }
    for (source, page) in &moved {
        let sql = "INSERT INTO copy_moved (source, page) VALUES ($1, $2)";
        conn.execute(sql, &[source, page]).await?;
    }
    Ok(moved)
}

fn int(cell: &Cell) -> i64 {
    match cell {
        Cell::Int(number) => *number,
        _ => 0,
    }
}

pub(super) fn names(plan: &Plan) -> String {
    let names = plan.columns.iter().map(|(name, _)| *name);
    names.collect::<Vec<_>>().join(", ")
}

pub(super) async fn load(conn: &Conn, plan: &Plan, rows: &[Row]) -> Result<(), Fault> {
    if rows.is_empty() {
        return Ok(());
    }
    let sql = format!("COPY {} ({}) FROM STDIN BINARY", plan.table, names(plan));
    let types: Vec<Type> = plan.columns.iter().map(|(_, col)| type_of(*col)).collect();
    conn.load(&sql, &types, rows).await
}

fn type_of(col: Col) -> Type {
    match col {
        Col::Int2 => Type::INT2,
        Col::Int4 => Type::INT4,
        Col::Int8 => Type::INT8,
        Col::Bool => Type::BOOL,
        Col::Text => Type::TEXT,
        Col::Bytes => Type::BYTEA,
    }
}

pub(super) fn cells(plan: &Plan, row: &PgRow) -> Row {
    let cell = |(at, (_, col)): (usize, &(&str, Col))| match col {
        Col::Int2 => row.get::<_, Option<i16>>(at).map(i64::from).into(),
        Col::Int4 => row.get::<_, Option<i32>>(at).map(i64::from).into(),
        Col::Int8 => row.get::<_, Option<i64>>(at).into(),
        Col::Bool => row
            .get::<_, Option<bool>>(at)
            .map_or(Cell::Null, Cell::Bool),
        Col::Text => {
            let text: Option<Heard> = row.get(at);
            text.map_or(Cell::Null, |text| Cell::Text(text.0))
        }
        Col::Bytes => row
            .get::<_, Option<Vec<u8>>>(at)
            .map_or(Cell::Null, Cell::Bytes),
    };
    plan.columns.iter().enumerate().map(cell).collect()
}

impl ToSql for Cell {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Bool(value) => value.to_sql(ty, out),
            Self::Int(value) if *ty == Type::INT2 => i16::try_from(*value)?.to_sql(ty, out),
            Self::Int(value) if *ty == Type::INT4 => i32::try_from(*value)?.to_sql(ty, out),
            Self::Int(value) => value.to_sql(ty, out),
            Self::Text(text) => Said(text).to_sql(ty, out),
            Self::Bytes(bytes) => bytes.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
