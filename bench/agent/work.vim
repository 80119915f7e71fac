" Substitutions, sorting, macros over lines, functions.
set nocompatible
function! Fib(n)
	return a:n < 2 ? a:n : Fib(a:n - 1) + Fib(a:n - 2)
endfunction
let g:text = []
for i in range(1, 4000)
	call add(g:text, printf('%d %s', i * 7919 % 1009, substitute(getline(i), '\(\w\+\)\s\(\w\+\)', '\2 \1', 'g')))
endfor
call append(0, sort(copy(g:text)))
call append(0, string(Fib(17)))
%s/\v<(\w)(\w*)>/\2\1/ge
g/^\s*$/d
1,6000g/define/normal! 0dwA moved
sort n /\d\+/
write!
quit!
