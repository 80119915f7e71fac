create table customer(id int primary key, name varchar(40), city varchar(20));
create table item(id int primary key, name varchar(40), price decimal(10, 2));
create table sale(id int primary key, customer int references customer, item int references item, amount int, sold date);
create index sale_day on sale(sold);
insert into customer select x, 'customer ' || x, 'city ' || mod(x * 7, 23) from system_range(1, 500);
insert into item select x, 'item ' || x, cast(mod(x * 37, 991) as decimal(10, 2)) / 10 from system_range(1, 300);
insert into sale select x, mod(x * 31, 500) + 1, mod(x * 17, 300) + 1, mod(x, 9) + 1, dateadd('DAY', mod(x * 13, 700), date '2020-01-01')
	from system_range(1, 12000);
select city, count(*), sum(amount * price) from sale s join customer c on s.customer = c.id join item i on s.item = i.id
	group by city having count(*) > 10 order by 3 desc, 1 limit 10;
select year(sold), month(sold), max(amount), min(price) from sale s join item i on s.item = i.id
	group by year(sold), month(sold) order by 1, 2;
select name, (select count(*) from sale where customer = c.id and amount > 4) n from customer c order by n desc, name limit 5;
update item set price = price * 2 where id in (select item from sale where amount = 9);
delete from sale where mod(id, 5) = 0 and amount < 3;
with recursive chain(n, total) as (select 1, 1 union all select n + 1, total + n * n from chain where n < 200)
	select max(n), max(total) from chain;
select c.name, listagg(i.name, ',') within group (order by i.id) from sale s join customer c on s.customer = c.id
	join item i on s.item = i.id where c.id < 4 group by c.name order by 1;
select rank() over (partition by city order by n desc) r, name, n from
	(select c.city, c.name, sum(s.amount) n from sale s join customer c on s.customer = c.id group by c.city, c.name) order by 1, 2 limit 8;
select regexp_replace(name, '[0-9]+', 'N'), count(*) from item where name like '%7%' or upper(name) like '%3_'
	group by regexp_replace(name, '[0-9]+', 'N') order by 1;
drop all objects
