-- ROWS is replaced by the size of the first table.
create table a(id integer primary key, k integer, name text, v real);
with recursive c(x) as (select 1 union all select x + 1 from c where x < ROWS)
  insert into a select x, x * 7919 % 10007, 'name ' || (x * 31 % 997), x * 1.5 from c;
create index ak on a(k);
create table b as select id, k % 500 as g, name || '-' || id as note from a;
select count(*), sum(v) from a where k between 100 and 9000 and name like '%1%';
select g, count(*), max(note) from b group by g having count(*) > 30 order by 2 desc, 1 limit 5;
select count(*) from a x join a y on x.k = y.k + 1 where x.id % 3 = 0;
update a set v = v * 2, name = upper(name) where id % 5 = 0;
select sum(length(name)), total(v) from a order by name;
select sum(n) from (select count(*) over (partition by g order by note) n from b where g < 200);
delete from a where k % 4 = 1;
select count(*) from a where id in (select id from b where note glob '*7*');
