create table a(id integer primary key, name text, v real);
create table b(id, a_id references a(id), note text collate nocase);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 400)
  insert into a select x, 'name ' || x, x * 1.5 from c;
insert into b select id, id % 40, 'Note ' || (id % 7) from a;
create index bi on b(a_id, note);
create trigger tr after update on a begin insert into b values(new.id, old.id, 'changed'); end;
create view w as select a.name, count(*) n from a join b on b.a_id = a.id group by a.name;
update a set v = v + 1 where id % 10 = 0;
select * from w order by n desc, name limit 5;
select name, group_concat(note) from a left join b on a.id = b.a_id group by 1 having count(*) > 2;
select x.name, (select max(v) from a where a.id < x.id) from a x where exists (select 1 from b where b.id = x.id);
select sum(v) over (order by id rows 3 preceding) from a where name like '%1%' or name glob '*9';
select json_extract('{"a":[1,2,{"b":3}]}', '$.a[2].b'), printf('%08.3f', 3.14), hex(randomblob(4)) is not null;
begin; delete from a where id > 300; savepoint s; insert into a values(1, 'dup', 0); rollback to s; commit;
select * from nowhere;
explain query plan select * from a, b where a.id = b.a_id and note = 'NOTE 3';
alter table a add column extra default 5;
vacuum; pragma integrity_check; analyze; reindex;
.schema
.dump
